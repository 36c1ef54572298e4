"""The words of --client, and driver files."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from harness.base.extras import MissingExtra
from harness.clients import known
from harness.clients.driver_file import DriverFileError, read_driver_file
from harness.clients.known import UnknownClient, parse_client

DRIVER = 'name = "mine"\nrelease = "1.4"\ncommand = ["./mine", "-v"]\n'


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    releases = {"kafka-python": "3.0.12", "confluent-kafka": "2.16.1"}

    def version(name: str) -> str:
        if name not in releases:
            raise PackageNotFoundError(name)
        return releases[name]

    monkeypatch.setattr(known, "version", version)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("word", "label", "versions"),
    [
        ("kafka-python", "kafka-python-3.0.12", "kafka-python-3.0.12"),
        ("kafka-python-3.x", "kafka-python-3.0.12", "kafka-python-3.0.12"),
        ("confluent-kafka-2.16", "confluent-kafka-2.16.1", "librdkafka-2.16.0"),
        ("java", "java-4.4.0", "kafka-clients-4.4.0"),
        ("java-3.9.x", "java-3.9.2", None),
        ("java-2.8.2", "java-2.8.2", None),
    ],
)
def test_word_names_a_release_and_its_versions(word: str, label: str, versions: str | None) -> None:
    client = parse_client(word)
    assert client.label == label
    assert (client.versions.name if client.versions else None) == versions


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("kafka-pyton", r'did you mean "kafka-python"'),
        ("kafka-python-2.x", r"3\.0\.12 is: pip install 'kafka-python==2\.\*'"),
        ("java-9.x", r"no release 9\.x of the Java clients"),
        ("absent.toml", r"absent\.toml: cannot be read"),
    ],
)
def test_unknown_word_raises_unknown_client(word: str, said: str) -> None:
    with pytest.raises(UnknownClient, match=said):
        parse_client(word)


@pytest.mark.usefixtures("installed")
def test_client_without_its_package_names_the_extra() -> None:
    with pytest.raises(MissingExtra, match=r"aiokafka.*pip install 'kafka-conformance\[clients\]'"):
        parse_client("aiokafka")


def test_driver_file_names_command_and_client_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'{DRIVER}versions = "franz-go-1.22.3"\n', "utf-8")
    found = read_driver_file(file)
    assert (found.name, found.command) == ("mine", ("./mine", "-v"))
    client = parse_client(str(file))
    assert client.label == "mine-1.4"
    assert client.versions is not None
    assert client.versions.name == "franz-go-1.22.3"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DRIVER.replace('"mine"', '"1 mine"'), r"name: .*form"),
        (DRIVER.replace('["./mine", "-v"]', "[]"), r"command: is missing or empty"),
        (f"{DRIVER}verson = 'x'\n", r"verson: unknown key"),
    ],
)
def test_wrong_driver_file_raises_driver_file_error(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(DriverFileError, match=said):
        read_driver_file(file)

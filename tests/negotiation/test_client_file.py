"""Client files: those that we ship, and what is said of wrong ones."""

from datetime import date
from pathlib import Path

import pytest

from harness.negotiation.client_file import (
    ClientFileError,
    find_client,
    known_clients,
    read_client_file,
)

GOOD = """
client = "mine"
release = "1.2"
source = "its manual"
without_api_versions = "it gives up"

[versions]
Produce = "3-9"

[[feature]]
name = "zstd"
meaning = "compression with zstandard"
needs = {Produce = "7+"}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine-1.2.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", known_clients())
def test_shipped_client_file_is_found_by_its_name(name: str) -> None:
    assert find_client(name).name == name


def test_shorter_name_finds_newest_client() -> None:
    assert find_client("librdkafka-2.16").name == "librdkafka-2.16.0"
    assert find_client("librdkafka").name == "librdkafka-2.16.0"


def test_partial_version_number_is_refused_as_name() -> None:
    with pytest.raises(ClientFileError, match=r'did you mean "librdkafka-2\.1[56]\.[01]"\?'):
        find_client("librdkafka-2.1")


def test_part_of_the_name_of_a_client_is_refused() -> None:
    with pytest.raises(ClientFileError, match="no client 'kafka'"):
        find_client("kafka")


def test_day_of_reading_is_optional_and_a_date(tmp_path: Path) -> None:
    assert read_client_file(written(tmp_path, GOOD)).read_on is None
    path = written(tmp_path, GOOD.replace("\n[versions]", "read_on = 2027-01-31\n[versions]"))
    assert read_client_file(path).read_on == date(2027, 1, 31)


def test_client_file_is_found_by_path(tmp_path: Path) -> None:
    client = find_client(str(written(tmp_path, GOOD)))
    assert str(client.versions["Produce"]) == "3-9"
    assert client.features[0].name == "zstd"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Produce =", "Produse =", r'versions: no API .Produse. - did you mean "Produce"'),
        ('"3-9"', '"9-3"', "versions: Produce: .*runs backwards"),
        ('"3-9"', "3", "versions: Produce: .*is no text"),
        ('"3-9"', '"99"', "no release had it; known: 0-13"),
        ('"7+"', '"10+"', "feature zstd: needs Produce 10.*the client itself does not speak"),
        ('{Produce = "7+"}', '{Fetch = "7+"}', "feature zstd: needs Fetch"),
        ('{Produce = "7+"}', "{}", "needs: names no API"),
        ("[versions]", "[version]", "versions: is missing"),
        ('release = "1.2"', "", "release: is missing"),
        ('release = "1.2"', 'release = "1.2"\nread_on = "today"', "read_on: 'today' is not a date"),
        ("[[feature]]", "[[featrue]]", 'featrue: unknown key - did you mean "feature"'),
    ],
)
def test_malformed_client_file_raises_error_with_path_and_reason(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(ClientFileError, match=says) as caught:
        read_client_file(path)
    assert str(path) in str(caught.value)


def test_missing_client_file_raises_error() -> None:
    with pytest.raises(ClientFileError, match=r"nowhere\.toml: cannot be read"):
        find_client("nowhere.toml")

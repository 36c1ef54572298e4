"""Pins, the cache and Maven's local repository."""

import hashlib
from pathlib import Path

import pytest

from harness.targets import artifacts
from harness.targets.artifacts import Artifact, fetch, parse_pins, pinned_artifacts
from harness.targets.errors import TargetError
from harness.targets.maven import BaseAddress
from tests.targets.repository import CONTENT, SHA256, Behaviour, repository

HEADER = "\t".join(artifacts.COLUMNS)
THING = Artifact("9.9.9", "org.example", "thing", "1.0", None, SHA256, len(CONTENT), "pom")
NOWHERE = BaseAddress("http://127.0.0.1:1", "a test that must not download")


def test_pins_of_newest_kafka_are_unique_and_complete() -> None:
    pins = pinned_artifacts()["4.4.0"]
    assert len(pins) == len({pin.path for pin in pins})
    assert {pin.artifact for pin in pins} >= {"kafka_2.13", "kafka-clients", "log4j-core"}
    assert all(int(pin.sha256, 16) >= 0 and pin.size_bytes > 0 for pin in pins)
    assert artifacts.pinned_releases()[-1] == "4.4.0"


def test_parse_pins_reads_several_releases() -> None:
    rows = [
        f"0.8.0\torg.a.b\tx\t1\t-\t{SHA256}\t5\tpom",
        f"3.10.0\torg.a.b\tx\t1\tlinux\t{SHA256}\t5\textra",
        f"0.8.0\torg.a.b\ty\t2\t-\t{SHA256}\t5\tpom",
    ]
    pins = parse_pins("\n".join([HEADER, *rows]))
    assert [pin.coordinate for pin in pins["0.8.0"]] == ["org.a.b:x:1", "org.a.b:y:2"]
    assert pins["3.10.0"][0].path == "org/a/b/x/1/x-1-linux.jar"


@pytest.mark.parametrize(
    "text", ["", "release\tgroup", HEADER + "\n1.0\ta\tb", HEADER + "\n" + "\t".join("abcdefgh")]
)
def test_invalid_pins_raise_target_error(text: str) -> None:
    with pytest.raises(TargetError, match=r"kafka_artifacts\.tsv"):
        parse_pins(text)


def test_fetch_of_unpinned_release_raises_target_error() -> None:
    with pytest.raises(TargetError, match=r"1\.2\.3 are not pinned; pinned: .*4\.4\.0"):
        artifacts.fetch_release("1.2.3")


def test_fetch_copies_artifact_from_local_repository(tmp_path: Path) -> None:
    source = tmp_path / "m2" / THING.path
    source.parent.mkdir(parents=True)
    source.write_bytes(CONTENT)
    (path,) = fetch([THING], folder=tmp_path / "cache", base=NOWHERE, local=tmp_path / "m2")
    assert path == tmp_path / "cache" / "org/example/thing/1.0/thing-1.0.jar"
    assert path.read_bytes() == CONTENT
    source.write_bytes(b"changed later")
    assert path.read_bytes() == CONTENT


def test_fetch_downloads_if_local_file_has_wrong_checksum(tmp_path: Path) -> None:
    source = tmp_path / "m2" / THING.path
    source.parent.mkdir(parents=True)
    source.write_bytes(CONTENT[::-1])
    with repository(Behaviour()) as url:
        base = BaseAddress(url, "this test")
        (path,) = fetch([THING], folder=tmp_path / "cache", base=base, local=tmp_path / "m2")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SHA256


def test_fetch_downloads_once_into_configured_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behaviour = Behaviour()
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_LOCAL", str(tmp_path / "none"))
    with repository(behaviour) as url:
        monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_URL", url + "/")
        first = fetch([THING])
        assert fetch([THING]) == first
    assert behaviour.requests.total() == 1
    assert (tmp_path / "cache") in first[0].parents

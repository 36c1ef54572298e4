"""Pinning a release: the requests to Maven, the pins from its answers, the new file."""

import hashlib
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.targets.artifacts import parse_pins, pinned_releases
from harness.targets.errors import TargetError
from harness.targets.kafka import pin
from harness.targets.kafka.release import line_of, release_key

LINES = (
    "0.8.0 0.8.1 0.8.2 0.9.0 0.10.0 0.10.1 0.10.2 0.11.0 1.0 1.1 2.0 2.1 2.2 2.3 2.4 2.5 2.6 2.7 "
    "2.8 3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4"
)
JAR = b"not really a jar"
MAVEN = """\
#!/bin/sh
# Leaves one jar in the local repository that is named, and a classpath of it.
for word do
    case $word in -Dmaven.repo.local=*) repository=${word#*=};; esac
done
folder=$repository/org/apache/kafka/kafka_2.13/9.0.0
mkdir -p "$folder"
printf '%s' 'not really a jar' > "$folder/kafka_2.13-9.0.0.jar"
printf '%s' "$folder/kafka_2.13-9.0.0.jar" > classpath
"""


def test_every_minor_line_has_pinned_release() -> None:
    assert not set(LINES.split()) - {line_of(release) for release in pinned_releases()}


def test_patch_releases_are_pinned() -> None:
    """All releases since 0.8.0 that have artifacts: no line lacks a patch between two others."""
    pinned = pinned_releases()
    assert {"0.8.1", "0.10.0.0", "2.8.0", "3.7.0", "4.0.0", "4.0.1", "4.2.2"} <= set(pinned)
    assert len(pinned) == 88
    patches: dict[str, list[int]] = {}
    for release in pinned:
        parts = release_key(release)
        patch = parts[-1] if len(parts) > len(release_key(line_of(release))) else 0
        patches.setdefault(line_of(release), []).append(patch)
    assert {line: found for line, found in patches.items() if found != [*range(len(found))]} == {}


def test_pins_file_round_trips() -> None:
    text = pin.PINS.read_text("utf-8")
    assert pin.pins_text(parse_pins(text)) == text


@pytest.mark.parametrize(
    ("release", "broker", "extra", "excluded"),
    [
        ("0.8.0", "kafka_2.10", [], ["jmxtools", "jmxri", "jms", "mail"]),
        ("0.8.2.2", "kafka_2.11", [], []),
        ("0.10.1.0", "kafka_2.11", ["jaxb-api"], []),
        ("0.10.1.1", "kafka_2.12", ["jaxb-api"], []),
        ("3.1.2", "kafka_2.13", ["slf4j-reload4j", "reload4j"], []),
        ("4.4.0", "kafka_2.13", ["log4j-slf4j-impl"], ["kafka-tools-api"]),
    ],
)
def test_pom_contains_broker_extras_and_exclusions(
    release: str, broker: str, extra: list[str], excluded: list[str]
) -> None:
    dependencies = ElementTree.fromstring(pin.pom_of(release)).findall(
        "./{*}dependencies/{*}dependency"
    )
    assert [each.findtext("{*}artifactId") for each in dependencies] == [broker, *extra]
    found = dependencies[0].findall(".//{*}exclusion/{*}artifactId")
    assert [each.text for each in found] == excluded


def test_pom_replaces_zookeeper_version_of_old_release() -> None:
    managed = "./{*}dependencyManagement//{*}dependency"
    pom = ElementTree.fromstring(pin.pom_of("2.0.1"))
    versions = {
        each.findtext("{*}artifactId"): each.findtext("{*}version") for each in pom.findall(managed)
    }
    assert versions["zookeeper"] == "3.4.12"
    assert "3.4.12" not in pin.pom_of("2.4.1")


def test_jar_with_classifier_has_coordinate_and_path(tmp_path: Path) -> None:
    jar = tmp_path / "org/a/b/thing/1.0/thing-1.0-linux.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(JAR)
    found = pin.artifact_at("9.0.0", jar, tmp_path, ["org.a.b:thing:1.0"])
    assert (found.coordinate, found.origin) == ("org.a.b:thing:1.0:linux", "extra")
    assert found.path == "org/a/b/thing/1.0/thing-1.0-linux.jar"


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of pins that may change, with a Maven that knows one jar."""
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text(MAVEN)
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_LOCAL", str(tmp_path / "m2"))
    path = tmp_path / "pins.tsv"
    path.write_text(pin.PINS.read_text("utf-8"))
    monkeypatch.setattr(pin, "PINS", path)
    return path


def test_new_release_is_added_and_others_stay_unchanged(
    pins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = pins.read_text()
    assert pin.main(["--check", "9.0.0"]) == 1
    assert pins.read_text() == before
    assert pin.main(["9.0.0"]) == 0
    assert "9.0.0: 1 artifacts, 0 MiB, otherwise than before" in capsys.readouterr().out
    checksum = hashlib.sha256(JAR).hexdigest()
    row = f"9.0.0\torg.apache.kafka\tkafka_2.13\t9.0.0\t-\t{checksum}\t{len(JAR)}\tpom\n"
    releases, others = before.split("\nstreams-", 1)
    assert pins.read_text() == releases + "\n" + row + "streams-" + others
    assert pin.main(["--check", "9.0.0"]) == 0
    assert "as it was" in capsys.readouterr().out


def test_failing_maven_exits_2_and_keeps_pins(
    pins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin" / "mvn").write_text("#!/bin/sh\necho no such artifact\nexit 1\n")
    before = pins.read_text()
    assert pin.main(["9.0.0"]) == 2
    assert capsys.readouterr().err == (
        "Kafka 9.0.0 cannot be resolved; Maven says:\nno such artifact\n"
    )
    assert pins.read_text() == before


def test_missing_maven_raises_target_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="no mvn on PATH"):
        pin.resolve("9.0.0")


def test_too_old_release_raises_target_error() -> None:
    with pytest.raises(TargetError, match=r"0\.7\.2 is older than 0\.8\.0"):
        pin.pom_of("0.7.2")

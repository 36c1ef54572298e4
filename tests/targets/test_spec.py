"""Target strings, good and bad."""

from pathlib import Path

import pytest

from harness.targets.address import parse_address
from harness.targets.command import CommandTarget
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.kafka.target import KafkaTarget
from harness.targets.reference import ReferenceBroker
from harness.targets.spec import parse_target, target_kinds
from harness.targets.target import CAPABILITIES, Address
from tests.targets import kinds as kinds_of_target


def test_each_kind_by_its_own_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kinds_of_target.ROOT)  # one example is a file there
    kinds = {kind.name: kind for kind in target_kinds()}
    assert set(kinds) == {"reference", "external", "kafka", "command"}
    for kind in kinds.values():
        target = parse_target(kind.example, log_dir=tmp_path)
        assert target.spec == kind.example
        assert target.log_dir == tmp_path
        if kind.name == "command":  # its file says which
            assert target.capabilities < kind.capabilities
        else:
            assert target.capabilities == kind.capabilities
        assert target.capabilities <= set(CAPABILITIES)
        assert kind.meaning
        assert kind.form.startswith(kind.name)


def test_what_they_are() -> None:
    kafka = parse_target("kafka:4.4.0")
    assert isinstance(kafka, KafkaTarget)
    assert (kafka.implementation, kafka.release) == ("Apache Kafka", "4.4.0")
    assert isinstance(parse_target(" reference "), ReferenceBroker)
    external = parse_target("external:a.test:1,[::1]:65535")
    assert isinstance(external, ExternalBroker)
    assert external.bootstrap == [Address("a.test", 1), Address("::1", 65535)]
    assert external.spec == "external:a.test:1,[::1]:65535"
    kind_of_file = parse_target(f"command:{kinds_of_target.ROOT}/docker/librdkafka-mock.toml")
    assert isinstance(kind_of_file, CommandTarget)
    assert kind_of_file.implementation == "librdkafka mock cluster"
    assert (external.implementation, external.release) == ("external", "unknown")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", ["unknown target", "reference", "kafka:RELEASE"]),
        ("refrence", ["unknown target 'refrence'", "did you mean 'reference'"]),
        ("Kafka:4.4.0", ["did you mean 'kafka'"]),
        ("localhost:9092", ["unknown target", "external:HOST:PORT"]),
        ("reference:x", ["takes nothing", "'x'"]),
        ("kafka", ["a release is missing", "4.4.0"]),
        ("kafka:", ["a release is missing", "4.4.0"]),
        ("kafka:4.4.00", ["not pinned", "did you mean '4.4.0'", "pinned: "]),
        ("kafka:latest", ["'latest' is not pinned", "4.4.0"]),
        ("external", ["an address is missing", "external:127.0.0.1:9092"]),
        ("external:host", ["'host' is not HOST:PORT"]),
        ("external:a:1,", ["'' is not HOST:PORT"]),
        ("external::9092", ["':9092' is not HOST:PORT"]),
        ("external:::1:9092", ["brackets"]),
        ("external:a:b", ["'a:b'"]),
        ("external:a:0", ["no port 0"]),
        ("external:a:65536", ["no port 65536", "65535"]),
        ("external:a:" + "9" * 5000, ["is not HOST:PORT"]),
        ("command", ["a TOML file is missing", "command:FILE"]),
        ("command:no/such.toml", ["no/such.toml: cannot be read: No such file"]),
        ("external:" + "a" * 64 + ":1", ["too long"]),
    ],
)
def test_bad_specs(spec: str, words: list[str]) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(spec)
    for each in words:
        assert each in str(caught.value)


def test_addresses_are_written_as_they_are_read() -> None:
    for text in ("127.0.0.1:9092", "[fe80::1%eth0]:9092", "broker-1.test:9092"):
        assert str(parse_address(text)) == text

"""Target strings, good and bad."""

from pathlib import Path

import pytest

from harness.base.address import Address
from harness.targets.address import parse_address
from harness.targets.command import CommandTarget
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.kafka.release import JUDGED
from harness.targets.kafka.target import KafkaTarget
from harness.targets.reference import ReferenceBroker
from harness.targets.spec import expand_all, expand_targets, parse_target, target_kinds
from harness.targets.target import CAPABILITIES
from tests.targets import kinds as kinds_of_target


def test_example_of_each_kind_parses_to_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kinds_of_target.ROOT)  # one example is a file there
    kinds = {kind.name: kind for kind in target_kinds()}
    assert set(kinds) >= {"reference", "external", "kafka", "command"}
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


def test_target_strings_parse_to_target_classes() -> None:
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
        ("refrence", ["unknown target 'refrence'", 'did you mean "reference"']),
        ("Kafka:4.4.0", ['did you mean "kafka"']),
        ("localhost:9092", ["unknown target", "external:HOST:PORT"]),
        ("reference:x", ["'x' after reference is no option NAME=VALUE"]),
        ("reference,process", ["'process' after reference is no option"]),
        ("reference,process=shared", ["process=shared: no such value", "known: own"]),
        ("reference,proces=own", ["unknown option 'proces'", 'did you mean "process"']),
        ("reference,set.=1", ["'set.' lacks the name of a setting"]),
        ("reference,set.message.max.byte=1", ['did you mean "message.max.bytes"']),
        ("reference,set.message.max.bytes=x", ["Invalid value x", "not a number"]),
        ("kafka", ["a release is missing", "latest"]),
        ("kafka:", ["a release is missing"]),
        ("kafka,mode=zk", ["a release is missing"]),
        ("kafka:4.4.00", ["not pinned", 'did you mean "4.4.0"', "pinned: "]),
        ("kafka:3.9", ["not pinned", 'did you mean "3.9.2"']),
        ("kafka:3", ['did you mean "3.9.2"']),
        ("kafka:0.10.2", ['did you mean "0.10.2.2"']),
        ("kafka:2.8.9", ['did you mean "2.8.2"']),
        ("kafka:5.0", ['did you mean "4.4.0"']),
        ("kafka:0.7", ['did you mean "0.8.0"']),
        ("kafka:lastest", ['did you mean "latest"']),
        ("kafka:3.9.2,mode=zookeper", ["unknown mode 'zookeper'", "zk, kraft"]),
        ("kafka:3.9.2,mod=zk", ["unknown option 'mod'", 'did you mean "mode"', "known: "]),
        ("kafka:3.9.2,mode", ["'mode' after kafka:3.9.2 is no option NAME=VALUE"]),
        ("kafka:3.9.2,mode=zk,mode=zk", ["'mode' is given twice"]),
        ("kafka:4.4.0,mode=zk", ["Kafka 4.4.0 has no ZooKeeper mode", "leave mode=zk out"]),
        ("kafka:2.7.2,mode=kraft", ["Kafka 2.7.2 has no KRaft mode", "leave mode=kraft out"]),
        ("kafka:4.4.0,nodes=0", ["nodes=0: "]),
        ("kafka:4.4.0,nodes=three", ["nodes=three: must be a number of brokers"]),
        ("kafka:4.4.0,controllers=three", ["controllers=three: must be a number of controllers"]),
        ("kafka:4.4.0,heap=big", ["bad heap 'big'", "256m"]),
        ("kafka:4.4.0,heap=", ["'heap' has no value"]),
        ("kafka:4.4.0,jvm=fast", ["bad jvm 'fast'", "quick and kafka"]),
        ("kafka:3.8.1..3.9.2", ["the range means 2 targets", "kafka:3.9.2"]),
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
def test_invalid_spec_raises_target_error_with_suggestion(spec: str, words: list[str]) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(spec)
    for each in words:
        assert each in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("reference", ["reference"]),
        (" external:a:1,b:2 ", ["external:a:1,b:2"]),
        ("command:x.toml", ["command:x.toml"]),
        ("kafka:3.9.2,mode=kraft,nodes=1", ["kafka:3.9.2"]),
        ("kafka:latest", ["kafka:4.4.0"]),
        ("kafka:latest,jvm=kafka,heap=512m", ["kafka:4.4.0,heap=512m,jvm=kafka"]),
        ("kafka:4.4.0,jvm=quick", ["kafka:4.4.0"]),
        ("kafka:4.2.1..4.3.1", ["kafka:4.2.1", "kafka:4.3.1"]),
        ("kafka:4.3.1..latest", ["kafka:4.3.1", "kafka:4.4.0"]),
        ("kafka:4.3.1..", ["kafka:4.3.1", "kafka:4.4.0"]),
        ("kafka:..0.8.1.1", ["kafka:0.8.0", "kafka:0.8.1.1"]),
        ("kafka:4.0.0..4.0.2", ["kafka:4.0.0", "kafka:4.0.1", "kafka:4.0.2"]),
        (
            "kafka:3.8.0..4.1.1",
            ["kafka:3.8.0", "kafka:3.8.1", "kafka:3.9.2", "kafka:4.0.2", "kafka:4.1.1"],
        ),
        ("kafka:0.10.2.0..", ["kafka:0.10.2.0", *(f"kafka:{one}" for one in JUDGED[6:])]),
        ("kafka:2.7.2..2.8.2,mode=zk,nodes=3", ["kafka:2.7.2,nodes=3", "kafka:2.8.2,nodes=3"]),
        ("kafka:3.9.2..3.9.2,mode=zk", ["kafka:3.9.2,mode=zk"]),
        ("kafka:3.9.2,set.a.b=c,set.d=e", ["kafka:3.9.2,set.a.b=c,set.d=e"]),
    ],
)
def test_expand_targets_returns_canonical_specs(spec: str, meant: list[str]) -> None:
    assert expand_targets(spec) == meant
    assert expand_all(meant) == meant, "what is meant means itself"


def test_open_range_expands_to_one_release_of_each_minor_line() -> None:
    """Both ends open, in the order of the releases, each with the mode of its time."""
    meant = expand_targets("kafka:..")
    assert meant == [f"kafka:{release}" for release in JUDGED]
    assert len(meant) >= 30


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("kafka:3.9.2..3.8.1", ["goes backwards", "3.8.1..3.9.2"]),
        ("kafka:2.8..3.9.2", ["Kafka '2.8' is not pinned", 'did you mean "2.8.2"']),
        ("kafka:4.0.5", ['did you mean "4.0.2"? Of 4.0 these are pinned: 4.0.0, 4.0.1, 4.0.2']),
        ("kafka:2.8.2..5.0", ['did you mean "4.4.0"']),
        ("kafka:3.8.1..4.0.2,mode=zk", ["Kafka 4.0.2 has no ZooKeeper mode"]),
        ("kafka:2.8.2...3.9.2", ["'.3.9.2' is not pinned"]),
        ("kafak:latest", ['did you mean "kafka"']),
    ],
)
def test_invalid_range_raises_target_error(spec: str, words: list[str]) -> None:
    with pytest.raises(TargetError) as caught:
        expand_targets(spec)
    for each in words:
        assert each in str(caught.value)


def test_reference_spec_with_options_keeps_settings_only() -> None:
    assert parse_target("reference,process=own").spec == "reference"
    target = parse_target("reference,set.message.max.bytes=2000,process=own")
    assert isinstance(target, ReferenceBroker)
    assert target.settings == {"message.max.bytes": "2000"}
    assert target.spec == "reference,set.message.max.bytes=2000"


def test_address_text_round_trips() -> None:
    for text in ("127.0.0.1:9092", "[fe80::1%eth0]:9092", "broker-1.test:9092"):
        assert str(parse_address(text)) == text

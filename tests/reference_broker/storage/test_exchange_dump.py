"""Kafka's own DumpLogSegments reads every file that our broker writes, and finds nothing wrong."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.client.connection import Connection
from harness.codec.data_framing import read_leader_epoch_checkpoint
from harness.codec.data_framing.log_folder import LEADER_EPOCHS
from harness.codec.records.any_format import read_records
from harness.codec.records.message_set import LegacyMessage, encode_message_set
from harness.targets.artifacts import fetch_release
from harness.targets.java import find_java
from harness.targets.reference import ReferenceBroker
from tests.log_tools.planted import Plant, findings
from tests.log_tools.test_kafka_folders import JUDGE, compare_dumps
from tests.reference_broker.storage.exchange import ONLY_NODE, Served, serves
from tests.reference_broker.storage.varied_topics import (
    CODECS,
    IDEMPOTENT,
    QUICK,
    TOPICS,
    append,
    await_compaction,
    await_log_start,
    create,
    files_of,
    write_topics,
)
from tests.targets import kinds

pytestmark = [pytest.mark.kafka, pytest.mark.rotates(20)]
OFFSETS = "__consumer_offsets"
METADATA = "__cluster_metadata-0"
_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
WRONG = re.compile(
    r"mismatch|isvalid: false|corrupt|not monotonic|Found|out of order|Error|Exception"
    r"|should not|deserialize",
    re.IGNORECASE,
)
_RECORD = re.compile(r"^\| offset: (\d+) .*keySize: (-?\d+) valueSize: (-?\d+)", re.MULTILINE)
_OF_LOGGING = "log4j:"


def dumped(files: list[Path], *options: str) -> str:
    """The output of the tool, which must report no problem."""
    jars = os.pathsep.join(map(str, fetch_release(JUDGE)))
    command = [str(find_java().executable), *_FLAGS, "-cp", jars, "kafka.tools.DumpLogSegments"]
    ended = subprocess.run(
        [*command, *options, "--files", ",".join(map(str, files))], capture_output=True, check=True
    )
    problems = [
        line
        for line in ended.stderr.decode().splitlines()
        if line and not line.startswith(_OF_LOGGING)
    ]
    assert problems == []
    return ended.stdout.decode(errors="replace")


def without_payloads(text: str) -> list[str]:
    return [line.split(" payload: ")[0] for line in text.split("\n")]


@dataclass(frozen=True)
class Folder:
    """The folder of a node, and the data that it served."""

    path: Path
    served: dict[str, Served]

    def of(self, topic: str) -> Path:
        return self.path / f"{topic}-0"


@pytest.fixture(scope="module", params=["stopped", "killed"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A folder after one restart and this kind of end."""
    kinds.need_kafka(JUDGE)
    at = tmp_path_factory.mktemp("ours")
    with ReferenceBroker(on_disk=True, settings=QUICK, log_dir=at) as ours:
        address = ours.addresses[0]
        write_topics(address)
        (where,) = ours.log_directories(ONLY_NODE)
        await_compaction(where)
        await_log_start(where)
        end = ours.stop_node if request.param == "stopped" else ours.kill_node
        end(ONLY_NODE)
        ours.restart_node(ONLY_NODE)
        served = {topic: serves(address, topic) for topic in TOPICS}
        end(ONLY_NODE)
        shutil.copytree(where, at / "folder")
    return Folder(at / "folder", served)


def test_kafka_dump_tool_reads_same_batches_and_entries_in_each_file(folder: Folder) -> None:
    """The tool and our reader read the same batches and entries."""
    assert sum(compare_dumps(folder.of(topic)) for topic in TOPICS) > 250
    kinds_of_file = {path.suffix for topic in TOPICS for path in files_of(folder.of(topic))}
    assert kinds_of_file == {".log", ".index", ".timeindex", ".snapshot"}


def test_verify_reports_no_findings_in_broker_folder(folder: Folder) -> None:
    assert findings(folder.path) == []


def test_kafka_dump_tool_reads_each_record_with_same_offset_and_sizes(folder: Folder) -> None:
    """The tool reads every record of every log; offsets and sizes are those of our reader."""
    for topic in TOPICS:
        logs = sorted(folder.of(topic).glob("*.log"))
        lines = without_payloads(dumped(logs, "--deep-iteration", "--print-data-log"))
        assert not [line for line in lines if WRONG.search(line)]
        found = re.findall(
            r"^\| offset: (\d+) .*keySize: (-?\d+) valueSize: (-?\d+)",
            "\n".join(lines),
            re.MULTILINE,
        )
        told = [
            (offset, -1 if key is None else len(key), -1 if value is None else len(value))
            for batch in read_records(folder.served[topic].data, limit_bytes=1 << 30).batches
            for offset, _, key, value in batch.records.rows()
        ]
        theirs = [(int(offset), int(key), int(value)) for offset, key, value in found]
        assert theirs[-len(told) :] == told
        assert len(told) >= folder.served[topic].batches > 0


def test_kafka_dump_tool_prints_produced_payloads(folder: Folder) -> None:
    text = dumped(sorted(folder.of(IDEMPOTENT).glob("*.log")), "--print-data-log")
    payloads = re.findall(r"sequence: (-?\d+) .*payload: (\w+)", text)
    once = [(str(at), ("one", "two")[at % 2]) for at in range(14)]
    assert payloads == once * 2


def test_kafka_dump_tool_verifies_indexes_without_mismatch(folder: Folder) -> None:
    for topic in TOPICS:
        indexes = [path for path in files_of(folder.of(topic)) if path.suffix.endswith("index")]
        full = [path for path in indexes if path.stat().st_size]
        assert full
        lines = dumped(full, "--index-sanity-check").splitlines()
        assert sum("passed sanity check" in line for line in lines) == len(full)
        lines = dumped(full, "--verify-index-only").splitlines()
        assert lines == [f"Dumping {path}" for path in full], "a mismatch is a line more"


def test_kafka_dump_tool_reports_planted_index_mismatch(folder: Folder, tmp_path: Path) -> None:
    shutil.copytree(folder.of(CODECS), tmp_path, dirs_exist_ok=True)
    plant = Plant(tmp_path, "")
    name = min(path.name for path in tmp_path.glob("*.index"))
    plant.flip(name, 8 * 5 + 3)
    with pytest.raises(AssertionError, match="Mismatches in"):
        dumped([tmp_path / name], "--verify-index-only")


def test_leader_epoch_checkpoint_contains_epochs_of_all_batches(folder: Folder) -> None:
    for topic in TOPICS:
        noted = read_leader_epoch_checkpoint((folder.of(topic) / LEADER_EPOCHS).read_bytes())
        batches = read_records(folder.served[topic].data, limit_bytes=1 << 30).batches
        epochs = {batch.partition_leader_epoch for batch in batches}
        assert epochs <= {entry.epoch for entry in noted}, "an epoch without batches may be noted"


def test_kafka_dump_tool_decodes_metadata_log(folder: Folder) -> None:
    (log,) = sorted((folder.path / METADATA).glob("*.log"))
    text = dumped([log], "--cluster-metadata-decoder")
    assert not [line for line in text.splitlines() if WRONG.search(line)]
    assert text.count("controlType: LEADER_CHANGE(2)") == 2, "two starts"
    types = set(re.findall(r'"type":"(\w+)"', text))
    assert types >= {
        "FEATURE_LEVEL_RECORD",
        "REGISTER_CONTROLLER_RECORD",
        "REGISTER_BROKER_RECORD",
        "BROKER_REGISTRATION_CHANGE_RECORD",
        "TOPIC_RECORD",
        "CONFIG_RECORD",
        "PARTITION_RECORD",
        "PRODUCER_IDS_RECORD",
    }
    names = re.findall(r'"TOPIC_RECORD".*?"name":"([\w-]+)"', text)
    assert set(names) == {*TOPICS, OFFSETS}
    assert compare_dumps(log.parent) > 10


def test_kafka_dump_tool_decodes_metadata_snapshots(folder: Folder) -> None:
    """KIP-630: the records of the log, between a header and a footer."""
    snapshots = sorted((folder.path / METADATA).glob("*.checkpoint"))
    assert len(snapshots) == 2, "older ones are not kept"
    text = dumped(snapshots, "--cluster-metadata-decoder")
    assert not [line for line in text.splitlines() if WRONG.search(line)]
    for end in ("SnapshotHeader", "SnapshotFooter"):
        assert text.count(end) == 2
    newest = text[text.index(snapshots[-1].name) :]
    names = re.findall(r'"TOPIC_RECORD".*?"name":"([\w-]+)"', newest)
    assert {*TOPICS} <= set(names) <= {*TOPICS, OFFSETS}
    assert newest.count('"REGISTER_CONTROLLER_RECORD"') == 1
    assert '"PARTITION_CHANGE_RECORD"' not in newest


OLD = {("2.8.2", "0.9.0"): 0, ("2.8.2", "0.10.0"): 1, ("0.10.2.2", ""): 1}


@pytest.mark.parametrize(("like", "message_format"), OLD)
def test_kafka_dump_tool_reads_old_message_formats(
    like: str, message_format: str, tmp_path: Path
) -> None:
    """Message sets, plain and in wrappers, by a broker that emulates an old release."""
    kinds.need_kafka(JUDGE)
    magic = OLD[like, message_format]
    settings = {name: v for name, v in QUICK.items() if name.startswith("log.index")}
    configs = {"message.format.version": message_format} if message_format else {}
    with ReferenceBroker(on_disk=True, like=like, settings=settings, log_dir=tmp_path) as ours:
        create(ours.addresses[0], {CODECS: configs}, 1)
        with Connection(ours.addresses[0], timeout_ms=30_000) as connection:
            for number in range(60):
                messages = [
                    LegacyMessage(
                        b"%d" % place + b"v" * 4_000, b"key", 1_500_000_000_000, place, magic
                    )
                    for place in range(10)
                ]
                codec = ("none", "gzip")[number % 2]
                append(connection, CODECS, encode_message_set(messages, codec), 2 if magic else 0)
        (where,) = ours.log_directories(ONLY_NODE)
        ours.stop_node(ONLY_NODE)
        text = dumped(sorted(where.glob(f"{CODECS}-0/*.log")), "--deep-iteration")
        assert not [line for line in text.splitlines() if WRONG.search(line)]
        assert len(re.findall(r"^\| offset: \d+", text, re.MULTILINE)) == 600
        assert set(re.findall(r"magic: (\d)", text)) == {str(magic)}
        assert compare_dumps(where / f"{CODECS}-0") > 300

"""Folders that real brokers wrote, and what Kafka's own DumpLogSegments prints of them."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.codec.data_framing import (
    clean_shutdown_bytes,
    leader_epoch_checkpoint_bytes,
    meta_properties_bytes,
    offset_checkpoint_bytes,
    offset_index_bytes,
    offset_index_entries,
    partition_metadata_bytes,
    producer_snapshot_bytes,
    read_clean_shutdown,
    read_leader_epoch_checkpoint,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
    read_producer_snapshot,
    read_transaction_index,
    time_index_bytes,
    time_index_entries,
    transaction_index_bytes,
)
from harness.codec.data_framing.log_folder import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    open_log,
)
from harness.log_tools.log_values import log_values
from harness.targets.artifacts import fetch_release
from harness.targets.java import find_java
from harness.targets.kafka.target import KafkaTarget
from labs.awaiting import await_right
from tests.log_tools.planted import Plant, findings
from tests.reference_broker.storage.kafka_folder import SETTINGS, TOPIC, write, written_folder
from tests.targets import kinds

pytestmark = [pytest.mark.kafka, pytest.mark.rotates(20)]
JUDGE = "3.9.2"  # reads the files of every release
PARTITION = f"{TOPIC}-0"
_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_EMPTY = " is empty."  # said of an index instead of entries
Row = dict[str, Any]


def dumped_by_kafka(files: list[Path]) -> dict[str, list[dict[str, str]]]:
    """By file: the content of each line, ``name: value`` by ``name: value``."""
    jars = os.pathsep.join(map(str, fetch_release(JUDGE)))
    command = [str(find_java().executable), *_FLAGS, "-cp", jars, "kafka.tools.DumpLogSegments"]
    ended = subprocess.run(
        [*command, "--files", ",".join(map(str, files))], capture_output=True, text=True, check=True
    )
    found: dict[str, list[dict[str, str]]] = {}
    name = ""
    for line in ended.stdout.splitlines():
        if line.startswith("Dumping "):
            name = Path(line.removeprefix("Dumping ")).name
            found[name] = []
        elif line and not line.startswith("Log starting offset") and not line.endswith(_EMPTY):
            found[name].append(dict(re.findall(r"(\w+): (\S+)", line)))
    return found


def ours(folder: Path) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for value in log_values(open_log(folder), records=False):
        found.setdefault(Path(value["file"]).name, []).append(value)
    return found


ENTRY_NAMES = {
    "offset_index": {"offset": "offset", "position": "position"},
    "time_index": {"timestamp": "timestamp", "offset": "offset"},
    "aborted_transaction": {
        "producer_id": "producerId",
        "first_offset": "firstOffset",
        "last_offset": "lastOffset",
        "last_stable_offset": "lastStableOffset",
    },
    "producer": {
        "producer_id": "producerId",
        "producer_epoch": "producerEpoch",
        "coordinator_epoch": "coordinatorEpoch",
        "last_sequence": "lastSequence",
        "last_offset": "lastOffset",
        "offset_delta": "offsetDelta",
        "timestamp": "timestamp",
    },
}


def as_kafka_says(value: Row) -> dict[str, str]:
    """The fields of a batch or an entry that both tools print."""
    made: Row
    if value["kind"] == "batch" and value["magic"] > 1:
        made = {
            "baseOffset": value["base_offset"],
            "lastOffset": value["last_offset"],
            "count": value["count"],
            "baseSequence": value["base_sequence"],
            "producerId": value["producer_id"],
            "producerEpoch": value["producer_epoch"],
            "partitionLeaderEpoch": value["leader_epoch"],
            "isTransactional": value["transactional"],
            "isControl": value["control"],
        }
    elif value["kind"] == "batch":
        made = {"offset": value["last_offset"]}
    else:
        names = ENTRY_NAMES[value["kind"]]
        return _text({theirs: value[mine] for mine, theirs in names.items()})
    made |= {
        "position": value["position"],
        value["timestamp_type"]: value["max_timestamp"],
        "size": value["size_bytes"],
        "magic": value["magic"],
        "compresscodec": value["codec"],
        "crc": value["crc"],
        "isvalid": value["crc_ok"],
    }
    return _text(made)


def _text(made: Row) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in made.items()
    }


def compare_dumps(folder: Path) -> int:
    """Compare all files of a folder and return the number of lines."""
    suffixes = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
    files = sorted(path for path in folder.iterdir() if path.suffix in suffixes)
    theirs, mine, lines = dumped_by_kafka(files), ours(folder), 0
    for file in files:
        rows = [as_kafka_says(value) for value in mine.get(file.name, [])]
        wanted = theirs.get(file.name, [])
        assert len(rows) == len(wanted), file
        for row, line in zip(rows, wanted, strict=True):
            assert row == {name: line.get(name) for name in row}, file
        lines += len(rows)
    return lines


AGAIN: dict[str, Callable[[bytes, int], bytes]] = {  # by suffix or name: read, and written
    ".index": lambda data, base: offset_index_bytes(offset_index_entries(data, base), base),
    ".timeindex": lambda data, base: time_index_bytes(time_index_entries(data, base), base),
    ".txnindex": lambda data, _: transaction_index_bytes(read_transaction_index(data)),
    ".snapshot": lambda data, _: producer_snapshot_bytes(read_producer_snapshot(data)),
    LEADER_EPOCHS: lambda data, _: leader_epoch_checkpoint_bytes(
        read_leader_epoch_checkpoint(data)
    ),
    PARTITION_METADATA: lambda data, _: partition_metadata_bytes(read_partition_metadata(data)),
    META_PROPERTIES: lambda data, _: meta_properties_bytes(read_meta_properties(data)),
    CLEAN_SHUTDOWN: lambda data, _: clean_shutdown_bytes(read_clean_shutdown(data)),
    **dict.fromkeys(
        OFFSET_CHECKPOINTS, lambda data, _: offset_checkpoint_bytes(read_offset_checkpoint(data))
    ),
}


def small_files_come_back(folder: Path) -> set[str]:
    """Encode all small files again and return the kinds. A file that was never written is empty."""
    seen = set()
    for path in folder.rglob("*"):
        is_of_segment = path.stem.isdigit()
        kind = path.suffix if is_of_segment else path.name
        if kind in AGAIN and (data := path.read_bytes()):
            made = AGAIN[kind](data, int(path.stem) if is_of_segment else 0)
            if kind in (".index", ".timeindex"):
                made = made.ljust(len(data), b"\0")
            assert made == data, path
            seen.add(kind)
    return seen


def judged_alike(release: str, folder: Path, mode: str | None) -> None:
    running, ended = written_folder(release, folder, mode=mode)
    for each in (running, ended):
        assert findings(each) == []
        assert findings(each / PARTITION) == []
    assert compare_dumps(ended / PARTITION) > 100
    seen = small_files_come_back(running) | small_files_come_back(ended)
    assert {".index", RECOVERY_POINTS} <= seen
    if release == "4.4.0":
        assert seen >= AGAIN.keys() - {"cleaner-offset-checkpoint"}, "nothing was compacted"


def test_folder_of_kafka_4_4_is_sound_and_dumps_as_dump_log_segments(tmp_path: Path) -> None:
    kinds.need_kafka("4.4.0", JUDGE)
    judged_alike("4.4.0", tmp_path, None)


@pytest.mark.sample(4)
@pytest.mark.parametrize("release", ["0.8.2.2", "0.10.2.2", "2.8.2"])
def test_folder_of_old_kafka_is_sound_and_dumps_as_dump_log_segments(
    release: str, tmp_path: Path
) -> None:
    kinds.need_kafka(release, JUDGE)
    judged_alike(release, tmp_path, "zk")


def test_broker_recovers_damaged_log_as_verify_predicts(tmp_path: Path) -> None:
    """Killed, then damaged: the broker cuts the log where verify says, and makes anew files that
    it reports missing. After a clean shutdown it leaves the damage."""
    kinds.need_kafka("4.4.0")
    with KafkaTarget("4.4.0", settings=SETTINGS, log_dir=tmp_path) as target:
        write(target)
        target.kill_node(1)
        (folder,) = target.log_directories(1)
        cut_after_a_kill(target, folder)
        assert findings(folder) == []
        target.restart_node(1)
        target.stop_node(1)
        left_after_a_stop(target, folder)


def cut_after_a_kill(target: KafkaTarget, folder: Path) -> None:
    plant, last = Plant(folder, PARTITION), max((folder / PARTITION).glob("*.log"))
    plant.file("00000000000000000000.index").unlink()
    _, start = plant.header(int(last.stem), 3)
    plant.flip(last.name, start + 100)
    missing, damage = sorted(findings(folder), key=lambda found: found.kind)
    assert (missing.kind, missing.recovery) == ("index-missing", "rebuilt at the next start")
    assert (damage.kind, damage.position) == ("log-checksum", start)
    cut_bytes = last.stat().st_size - start
    assert damage.recovery == f"the log is cut here: {cut_bytes} bytes go"
    target.restart_node(1)
    await_right(lambda: last.stat().st_size, start.__eq__, "the log is cut")
    target.kill_node(1)
    assert missing.file.exists()


def left_after_a_stop(target: KafkaTarget, folder: Path) -> None:
    plant, last = Plant(folder, PARTITION), max((folder / PARTITION).glob("*.log"))
    assert findings(folder) == []
    _, start = plant.header(int(last.stem), 1)
    plant.flip(last.name, start + 100)
    before = findings(folder)
    assert before[0].recovery.startswith("not looked at behind a clean shutdown")
    target.restart_node(1)
    target.stop_node(1)
    assert findings(folder) == before


DAMAGE: dict[str, tuple[str, int, str]] = {  # file, byte to flip, kind
    "a record": ("00000000000000000260.log", 5_000, "log-checksum"),
    "the first batch's length": ("00000000000000000260.log", 8, "log-torn"),
    "its leader epoch": ("00000000000000000260.log", 15, "log-epoch"),
    "its magic": ("00000000000000000260.log", 16, "log-magic"),
    "an offset of the index": ("00000000000000000260.index", 8 * 5 + 3, "index-offset"),
    "a position of the index": ("00000000000000000260.index", 8 * 5 + 7, "index-position"),
    "a time": ("00000000000000000260.timeindex", 12 * 5 + 7, "time-index-timestamp"),
    "an aborted transaction": ("00000000000000000520.txnindex", 1, "txn-index-entry"),
    "a producer": ("00000000000000000615.snapshot", 30, "producer-snapshot"),
    "the leader epochs": ("leader-epoch-checkpoint", 0, "checkpoint"),
    "the high watermarks": ("replication-offset-checkpoint", 2, "checkpoint"),
    "the metadata": ("partition.metadata", 0, "note"),
}


def test_verify_names_kind_and_file_of_flipped_bit(tmp_path: Path) -> None:
    """Verify names the kind and the file of a flipped bit, and nothing else."""
    kinds.need_kafka("4.4.0")
    _, ended = written_folder("4.4.0", tmp_path)
    shutil.rmtree(ended / "__cluster_metadata-0")  # 20 MB of zeros, and not what is damaged here
    for what, (name, position, kind) in DAMAGE.items():
        plant = Plant(ended, PARTITION)
        before = plant.file(name).read_bytes()
        plant.flip(name, position)
        found = findings(ended)
        assert [(one.file.name, one.kind) for one in found] == [(name, kind)], what
        plant.write(name, before)
    assert findings(ended) == []

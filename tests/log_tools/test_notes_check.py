"""Damage planted beside the segments: indexes, snapshots, checkpoints, notes."""

import struct
from pathlib import Path

import pytest

from harness.codec.data_framing import (
    control_record_key,
    control_record_value,
    producer_snapshot_bytes,
    read_producer_snapshot,
    read_transaction_index,
    transaction_index_bytes,
)
from harness.codec.data_framing.log_folder import LogDirectoryFiles, open_log
from harness.codec.messages import SnapshotFooterRecord, SnapshotHeaderRecord
from harness.codec.records.batch import CONTROL, RecordBatch, encode_batch
from harness.codec.records.record import Record
from tests.log_tools.planted import Plant, findings, one
from tests.reference_broker.storage.made_folder import PARTITION, make_folder, name_of

INDEX, TIMES, ABORTED = (name_of(50, suffix) for suffix in (".index", ".timeindex", ".txnindex"))
SNAPSHOT = name_of(100, ".snapshot")
EPOCHS = "leader-epoch-checkpoint"
REBUILT, RECOVERED = "rebuilt at the next start", "rebuilt where its segment is recovered"


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    return Plant(make_folder(tmp_path / "data"))


@pytest.mark.parametrize(
    ("position", "mask", "kind", "problem", "place"),
    [
        (8 + 3, 1, "index-offset", "no batch begins or ends at offset 78", 1),
        (8 + 3, 2, "index-offset", "no batch begins or ends at offset 81", 1),
        (8 + 2, 1, "index-order", "entry 1, offset 335", 1),
        (24 + 2, 1, "index-offset", "offset 355 is behind the segment's last", 3),
        (8 + 7, 1, "index-position", "no batch begins at byte", 1),
        (8 + 4, 1, "index-order", "entry 1, offset 79 position 167", 1),
        (24 + 4, 1, "index-position", "is behind the last batch", 3),
        (3, 16, "index-offset", "stands before byte", 0),
    ],
)
def test_flipped_bit_in_offset_index_is_reported(
    plant: Plant, position: int, mask: int, kind: str, problem: str, place: int
) -> None:
    plant.flip(INDEX, position, mask)
    (found,) = findings(plant.folder)
    assert (found.file.name, found.kind, found.position) == (INDEX, kind, 8 * place)
    assert problem in found.problem
    assert RECOVERED in found.recovery


@pytest.mark.parametrize(
    ("position", "kind", "place"),
    [
        (12 + 7, "time-index-timestamp", 1),
        (12 + 4, "time-index-order", 1),
        (36 + 4, "time-index-timestamp", 3),
        (24 + 11, "time-index-order", 2),
        (36 + 9, "time-index-offset", 3),
    ],
)
def test_flipped_bit_in_time_index_is_reported(
    plant: Plant, position: int, kind: str, place: int
) -> None:
    plant.flip(TIMES, position, 16)
    (found,) = findings(plant.folder)
    assert (found.file.name, found.kind, found.position) == (TIMES, kind, 12 * place)
    assert RECOVERED in found.recovery


@pytest.mark.parametrize(("name", "size"), [(INDEX, 8), (TIMES, 12)])
def test_truncated_index_is_reported(plant: Plant, name: str, size: int) -> None:
    plant.cut(name, 2 * size + 3)
    kind = "index-cut" if size == 8 else "time-index-cut"
    one(plant, (name, kind, f"no multiple of {size}", RECOVERED), 2 * size, None)


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_index_of_other_segment_is_reported(plant: Plant, suffix: str) -> None:
    """The index belongs to another segment, and its numbers happen to rise."""
    other = plant.file(name_of(0, suffix)).read_bytes()
    plant.write(name_of(50, suffix), other)
    if suffix == ".timeindex":
        (found,) = findings(plant.folder)
        assert found.kind == "time-index-timestamp"
        return
    assert findings(plant.folder) == [], "offsets are relative: these segments are alike"
    plant.write(name_of(50, suffix), struct.pack(">iiii", 19, 400, 29, 900))
    (found,) = findings(plant.folder)
    assert (found.kind, found.position) == ("index-position", 0)
    assert "(and 1 more)" in found.problem


@pytest.mark.parametrize(("suffix", "kind"), [(".index", "index"), (".timeindex", "timeindex")])
def test_missing_index_is_reported_as_rebuilt(plant: Plant, suffix: str, kind: str) -> None:
    path = plant.file(name_of(50, suffix))
    path.unlink()
    (found,) = findings(plant.folder)
    assert (found.file, found.kind) == (path, f"{kind}-missing")
    assert found.recovery == REBUILT


def test_folder_without_time_indexes_has_no_findings(plant: Plant) -> None:
    """As releases before 0.10.1 have it."""
    for path in (plant.folder / PARTITION).glob("*.timeindex"):
        path.unlink()
    assert findings(plant.folder) == []


def test_index_without_segment_is_reported_as_orphan(plant: Plant) -> None:
    path = plant.folder / PARTITION / name_of(500, ".index")
    path.write_bytes(b"")
    (found,) = findings(plant.folder)
    assert (found.file, found.kind) == (path, "index-orphan")


def test_damaged_transaction_index_is_reported(plant: Plant) -> None:
    (entry,) = read_transaction_index(plant.file(ABORTED).read_bytes())
    raw = transaction_index_bytes([entry])
    plant.write(ABORTED, raw + raw)
    one(plant, (ABORTED, "txn-index-order", "ends at 69, not above 69", REBUILT), 34, 69)
    plant.write(ABORTED, raw[:-1])
    one(plant, (ABORTED, "txn-index-entry", "", REBUILT), 26, None)
    plant.write(ABORTED, b"\0\1" + raw[2:])
    one(plant, (ABORTED, "txn-index-entry", "version 1", REBUILT), 0, None)
    entry.first_offset, entry.last_offset = 60, 100
    plant.write(ABORTED, transaction_index_bytes([entry]))
    one(plant, (ABORTED, "txn-index-offset", "behind the segment's last", REBUILT), 0, 100)
    entry.first_offset, entry.last_offset = 99, 98
    plant.write(ABORTED, transaction_index_bytes([entry]))
    one(plant, (ABORTED, "txn-index-range", "begins at 99 and ends at 98", REBUILT), 0, 98)


def test_damaged_producer_snapshot_is_reported(plant: Plant) -> None:
    raw = plant.file(SNAPSHOT).read_bytes()
    plant.flip(SNAPSHOT, len(raw) - 1)
    one(plant, (SNAPSHOT, "producer-snapshot", "crc: checksum is 0x", "removed"), 2, None)
    found = read_producer_snapshot(raw)
    found.producer_entries[0].last_offset = 100
    plant.write(SNAPSHOT, producer_snapshot_bytes(found))
    one(plant, (SNAPSHOT, "producer-snapshot-entry", "offset 100 already", "removed"), None, 100)
    plant.write(SNAPSHOT, raw)
    beyond = plant.folder / PARTITION / name_of(151, ".snapshot")
    beyond.write_bytes(raw)
    wanted = (beyond.name, "producer-snapshot-offset", "the log ends at 150", "removed")
    one(plant, wanted, None, 151)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("producer_id", 8, "producer 8, offset 69: the batch there is of producer 7"),
        ("last_offset", 65, "producer 7, offset 65: the batch there ends at offset 69"),
        ("last_sequence", 8, "producer 7, offset 69: sequence 8, in the batch there it is 9"),
        ("epoch", -1, "producer 7, offset 69: epoch -1, in the batch there it is 0"),
    ],
)
def test_producer_snapshot_unlike_its_log_is_reported(
    plant: Plant, field: str, value: int, problem: str
) -> None:
    found = read_producer_snapshot(plant.file(SNAPSHOT).read_bytes())
    setattr(found.producer_entries[0], field, value)
    plant.write(SNAPSHOT, producer_snapshot_bytes(found))
    one(plant, (SNAPSHOT, "producer-snapshot-batch", problem, "next batch"), None, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [("last_offset", -1), ("epoch", 1), ("last_offset", 49)],
)
def test_producer_snapshot_that_its_log_does_not_contradict_has_no_findings(
    plant: Plant, field: str, value: int
) -> None:
    """No batch of it, an epoch that only a marker raised, a last batch that is gone."""
    found = read_producer_snapshot(plant.file(SNAPSHOT).read_bytes())
    setattr(found.producer_entries[0], field, value)
    if value == 49:  # the segment with it was deleted
        for path in (plant.folder / PARTITION).glob(f"{0:020}.*"):
            path.unlink()
    plant.write(SNAPSHOT, producer_snapshot_bytes(found))
    assert findings(plant.folder) == []


@pytest.mark.parametrize(
    ("data", "kind", "problem", "position", "offset"),
    [
        (b"0\n2\n0 0\n0 70\n", "leader-epoch-order", "epoch 0 from offset 70 on", None, 70),
        (b"0\n3\n0 0\n3 70\n4 151\n", "leader-epoch-offset", "ends at 150", None, 151),
        (b"0\n3\n0 0\n3 70\n", "checkpoint", "line 2: 3 entries promised, 2 there", 2, None),
        (b"1\n0\n", "checkpoint", "line 1: version 1; 0 is known", 0, None),
    ],
)
def test_invalid_leader_epoch_checkpoint_is_reported(
    plant: Plant, data: bytes, kind: str, problem: str, position: int | None, offset: int | None
) -> None:
    plant.write(EPOCHS, data)
    found = [each for each in findings(plant.folder) if each.kind != "log-epoch"]
    assert [(each.file.name, each.kind) for each in found] == [(EPOCHS, kind)]
    assert problem in found[0].problem
    assert (found[0].position, found[0].offset) == (position, offset)


@pytest.mark.parametrize(
    ("name", "recovery"),
    [
        ("recovery-point", "counts as flushed"),
        ("replication", "the high watermark"),
        ("log-start", "since 0.11 all of the log goes"),
        ("cleaner", "cleaning begins again"),
    ],
)
def test_invalid_offset_checkpoint_is_reported(plant: Plant, name: str, recovery: str) -> None:
    file = f"{name}-offset-checkpoint"
    plant.write(file, b"0\n1\nmade 0 151\n")
    one(plant, (file, "checkpoint-offset", "made-0: offset 151", recovery), None, 151)
    plant.write(file, b"0\n1\nmade 0\n")
    one(plant, (file, "checkpoint", "line 3: 3 words expected", "does not start"), 4, None)
    plant.write(file, b"")
    assert findings(plant.folder) == [], "so it is before it is written the first time"


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("meta.properties", b"version=9\n", "version: version '9'"),
        ("partition.metadata", b"version: 0\n", "expected"),
        (".kafka_cleanshutdown", b"{", "not JSON"),
    ],
)
def test_malformed_metadata_file_is_reported_as_note(
    plant: Plant, name: str, data: bytes, problem: str
) -> None:
    plant.write(name, data)
    one(plant, (name, "note", problem, ""), 0, None)


def metadata_snapshot() -> list[bytes]:
    header, footer = (
        encode_batch(
            RecordBatch(
                [Record(control_record_value(message), control_record_key(type_))],
                base_offset=offset,
                attributes=CONTROL,
            )
        )
        for message, type_, offset in (
            (SnapshotHeaderRecord(), 3, 0),
            (SnapshotFooterRecord(), 4, 2),
        )
    )
    return [header, encode_batch(RecordBatch([Record(b"r")], base_offset=1)), footer]


def test_damaged_metadata_snapshot_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    path = folder / f"{7:020}-{1:010}.checkpoint"
    header, records, footer = metadata_snapshot()
    path.write_bytes(header + records + footer)
    assert findings(folder) == findings(path) == []
    for data, kind, position in (
        (header + records, "footer", len(header + records)),
        (header + records + footer[:-1], "torn", len(header + records)),
        (header + records + header + footer, "offsets", len(header + records)),
        (b"", "footer", 0),
    ):
        path.write_bytes(data)
        (found,) = findings(folder)
        assert (found.kind, found.position) == (f"metadata-snapshot-{kind}", position)


def test_bootstrap_snapshot_of_log_directory_is_checked(plant: Plant) -> None:
    """It stands beside the partitions; the folder may have a name like theirs."""
    header, records, footer = metadata_snapshot()
    path = plant.folder / "bootstrap.checkpoint"
    path.write_bytes(header + records + footer)
    renamed = plant.folder.rename(plant.folder.with_name("data-1"))
    found = open_log(renamed)
    assert isinstance(found, LogDirectoryFiles)
    assert [folder.topic for folder in found.partitions] == ["made"]
    assert (found.metadata_snapshots, found.others) == ([renamed / path.name], [])
    assert findings(renamed) == findings(renamed / path.name) == []
    (renamed / path.name).write_bytes(header)
    (told,) = findings(renamed)
    assert told.kind == "metadata-snapshot-footer"

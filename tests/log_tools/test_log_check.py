"""Damage planted in a sound folder: each kind is found, named with its place, and nothing else."""

import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from harness.codec.data_framing.log_folder import NotALogFolder, open_log
from harness.codec.records.batch import encode_batch
from harness.codec.records.message_set import LegacyMessage, encode_message_set
from harness.codec.records.record import Record
from harness.log_tools.log_values import log_values
from harness.log_tools.segment_reader import SegmentDamage, SegmentReader
from tests.log_tools.planted import Plant, findings, one
from tests.reference_broker.storage.made_folder import PARTITION, batch_at, make_folder, name_of

pytestmark = pytest.mark.rotates(8)

LOG, LAST = name_of(50), name_of(100)
CUT_LAST = "the log is cut here"
CUT_SECOND = "not looked at, the recovery point is 100"


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    return Plant(make_folder(tmp_path / "data"))


@pytest.mark.parametrize("padding_bytes", [0, 24 * 100])
@pytest.mark.parametrize("clean", [False, True])
def test_sound_folder_has_no_findings(tmp_path: Path, clean: bool, padding_bytes: int) -> None:
    folder = make_folder(tmp_path / "data", clean=clean, padding_bytes=padding_bytes)
    assert findings(folder) == findings(folder / PARTITION) == []
    for file in (folder / PARTITION).iterdir():
        assert findings(file) == []


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("inside", [17, 21, 24, 30, 40, 50, 58, 61, 100])
def test_flipped_bit_in_batch_is_reported_as_log_checksum(
    plant: Plant, place: int, inside: int
) -> None:
    header, start = plant.header(50, place)
    plant.flip(LOG, start + inside)
    wanted = (LOG, "log-checksum", "checksum 0x", CUT_SECOND)
    one(plant, wanted, start, header.base_offset)


def test_base_offset_below_segment_is_reported_as_log_base(plant: Plant) -> None:
    header, start = plant.header(50, 2)
    plant.flip(LOG, start + 7, 64)
    wrong = header.base_offset ^ 64
    one(plant, (LOG, "log-base", f"offset {wrong} is below", "as it is"), start, wrong)


def test_base_offset_beyond_next_segment_is_reported_as_log_overlap(plant: Plant) -> None:
    header, start = plant.header(50, 2)
    plant.flip(LOG, start + 6, 1)
    wrong = header.base_offset + 256
    told = f"offset {wrong + 9}, where the next segment has 100 on"
    one(plant, (LOG, "log-overlap", told, "as it is"), start, wrong)


def test_leader_epoch_unlike_checkpoint_is_reported_as_log_epoch(plant: Plant) -> None:
    header, start = plant.header(50, 4)
    plant.flip(LOG, start + 15)
    wanted = (LOG, "log-epoch", "leader epoch 2, where the checkpoint has epoch 3", "as it is")
    one(plant, wanted, start, header.base_offset)


@pytest.mark.parametrize(
    ("inside", "mask", "kind", "problem"),
    [
        (8, 0x80, "log-length", "impossible length -"),
        (8, 0x10, "log-torn", "a batch of 2684"),
        (16, 0x10, "log-magic", "magic 18; there are 0, 1 and 2"),
    ],
)
def test_damaged_batch_length_or_magic_is_reported(
    plant: Plant, inside: int, mask: int, kind: str, problem: str
) -> None:
    header, start = plant.header(100, 3)
    plant.flip(LAST, start + inside, mask)
    wanted = (LAST, kind, problem, CUT_LAST)
    if kind == "log-torn":
        wanted = (LAST, kind, "a batch of ", CUT_LAST)
    one(plant, wanted, start, header.base_offset)


@pytest.mark.parametrize("left", [1, 16, 60, 61, 100])
def test_truncated_last_batch_is_reported_as_log_torn(plant: Plant, left: int) -> None:
    header, start = plant.header(100, 4)
    plant.cut(LAST, start + left)
    offset = header.base_offset if left > 16 else None
    one(plant, (LAST, "log-torn", "", f"{CUT_LAST}: {left} bytes go"), start, offset)


def test_zeros_after_last_batch_are_reported_as_log_zeros(plant: Plant) -> None:
    size = plant.file(LAST).stat().st_size
    plant.add(LAST, bytes(5000))
    wanted = (LAST, "log-zeros", "5000 bytes of zeros", f"{CUT_LAST}: 5000 bytes go")
    one(plant, wanted, size, None)


def test_log_truncated_at_batch_is_reported_by_indexes_and_checkpoint(plant: Plant) -> None:
    """Nothing is wrong with the log; the notes about the missing rest are wrong."""
    _, start = plant.header(100, 3)
    plant.cut(LAST, start)
    found = {one.kind: one for one in findings(plant.folder)}
    assert {kind: one.file.name for kind, one in found.items()} == {
        "index-position": name_of(100, ".index"),
        "time-index-offset": name_of(100, ".timeindex"),
        "checkpoint-offset": "replication-offset-checkpoint",
    }
    assert (found["index-position"].position, found["index-position"].offset) == (16, 139)
    assert "(and 1 more)" in found["index-position"].problem
    assert found["checkpoint-offset"].offset == 150


def test_finding_predicts_recovery_by_segment_and_shutdown(tmp_path: Path) -> None:
    """The recovery point is 100: a clean shutdown, or a segment below it, is not looked at."""
    for clean, base_offset, wanted in (
        (False, 50, CUT_SECOND),
        (False, 100, CUT_LAST),
        (True, 100, "not looked at behind a clean shutdown"),
    ):
        mine = Plant(make_folder(tmp_path / f"{clean}{base_offset}", clean=clean))
        mine.flip(name_of(base_offset), 61)
        (found,) = findings(mine.folder)
        assert wanted in found.recovery
    mine.file(".kafka_cleanshutdown").unlink()
    mine.write("recovery-point-offset-checkpoint", b"0\n1\nmade 0 10\n")
    mine.flip(name_of(100), 61)
    mine.flip(name_of(0), 61)
    (found,) = findings(mine.folder)
    assert "and 2 later segments" in found.recovery


def test_damaged_metadata_log_is_recovered_after_clean_shutdown(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "data", clean=True)
    (folder / PARTITION).rename(folder / "__cluster_metadata-0")
    Plant(folder, "__cluster_metadata-0").flip(LAST, 61)
    (found,) = [one for one in findings(folder) if one.kind == "log-checksum"]
    assert found.recovery.startswith(CUT_LAST)


def test_unreadable_records_are_reported_as_log_records(plant: Plant) -> None:
    """The checksum is right, so the writer made the mistake."""
    header, start = plant.header(50, 4)
    plant.cut(LOG, start)
    promised = batch_at(90, [Record(b"alone", timestamp_delta=9000)])
    plant.add(LOG, encode_batch(replace(promised, record_count=2, last_offset_delta=9)))
    wanted = (LOG, "log-records", "2 records promised, 1 found", "as it is")
    one(plant, wanted, start, header.base_offset)


def test_records_without_ascending_offsets_are_reported(plant: Plant) -> None:
    header, start = plant.header(50, 4)
    records = [Record(b"a", offset_delta=3), Record(b"b", timestamp_delta=9000, offset_delta=3)]
    plant.cut(LOG, start)
    plant.add(LOG, encode_batch(replace(batch_at(90, records), last_offset_delta=9)))
    wanted = (LOG, "log-record-offsets", "record with offset 93 behind 93", "as it is")
    one(plant, wanted, start, header.base_offset)


def test_duplicate_batch_is_reported_as_log_offsets(plant: Plant) -> None:
    _, start = plant.header(100, 4)
    raw = plant.file(LAST).read_bytes()
    plant.add(LAST, raw[start:])
    one(plant, (LAST, "log-offsets", "offset 140 behind 149", "as it is"), len(raw), 140)


def test_batch_within_next_segment_is_reported_as_log_overlap(plant: Plant) -> None:
    size = plant.file(LOG).stat().st_size
    plant.add(LOG, encode_batch(batch_at(100)))
    one(plant, (LOG, "log-overlap", "next segment has 100 on", "as it is"), size, 100)


def test_every_damaged_batch_is_reported(plant: Plant) -> None:
    """The check continues behind a bad checksum."""
    starts = [plant.header(50, place)[1] for place in (1, 3)]
    for start in starts:
        plant.flip(LOG, start + 61)
    plant.flip(LAST, 61)
    found = findings(plant.folder)
    assert [(each.file.name, each.position) for each in found] == [
        (LOG, starts[0]),
        (LOG, starts[1]),
        (LAST, 0),
    ]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy"])
def test_damaged_message_set_is_reported(tmp_path: Path, magic: int, codec: str) -> None:
    messages = [LegacyMessage(b"v" * 50, b"k", 1000 + at, at, magic) for at in range(4)]
    raw = encode_message_set(messages[:2], codec)
    first, raw = len(raw), raw + encode_message_set(messages[2:], codec)
    path = tmp_path / name_of(0)
    path.write_bytes(raw)
    assert findings(path) == []
    damaged = bytearray(raw)
    damaged[first + 30] ^= 4
    path.write_bytes(damaged)
    (found,) = findings(path)
    assert (found.kind, found.position) == ("log-checksum", first)
    path.write_bytes(raw[:-1])
    (found,) = findings(path)
    assert found.kind == "log-torn"


def test_large_batch_is_read_in_windows_and_false_length_is_reported(tmp_path: Path) -> None:
    """A checksum over more than one window, and a length that promises two gigabytes."""
    path = tmp_path / name_of(0)
    raw = bytearray(encode_batch(batch_at(0, [Record(b"v" * (3 << 20))])))
    path.write_bytes(raw + encode_batch(batch_at(1, [Record(b"w")])))
    with SegmentReader(path) as reader:
        assert [found.position for found in reader.batches()] == [0, len(raw)]
    raw[-5] ^= 1
    raw[8:12] = b"\x7f\xff\xff\xff"
    path.write_bytes(raw)
    with SegmentReader(path) as reader:
        (found,) = reader.batches()
    assert isinstance(found, SegmentDamage)
    assert found.problem == f"a batch of {(1 << 31) + 11} bytes of which {len(raw)} are there"


def test_open_log_refuses_folder_without_log(tmp_path: Path) -> None:
    with pytest.raises(NotALogFolder, match="neither a log directory nor a partition's folder"):
        open_log(tmp_path)
    (tmp_path / "notes.txt").write_text("?")
    with pytest.raises(NotALogFolder, match="no file of a log"):
        open_log(tmp_path / "notes.txt")
    (tmp_path / "new-0").mkdir()
    assert findings(tmp_path) == findings(tmp_path / "new-0") == []


def test_deleted_future_and_stray_files_are_not_checked(plant: Plant) -> None:
    """Files and folders that are on their way, or not Kafka's, are named only."""
    gone = f"made-0.{'0' * 32}-delete"
    for folder in (gone, f"made-1.{'0' * 32}-future", f"made-2.{'0' * 32}-stray"):
        (plant.folder / folder).mkdir()
        (plant.folder / folder / name_of(0)).write_bytes(b"?")
    inside = plant.folder / PARTITION
    for suffix in (".log.deleted", ".log.cleaned", ".log.swap", ".index.deleted"):
        (inside / name_of(0, suffix)).write_bytes(b"?")
    assert findings(plant.folder) == []


def test_check_of_large_segment_has_bounded_memory(tmp_path: Path) -> None:
    path, batch = tmp_path / name_of(0), encode_batch(batch_at(0, [Record(b"v" * 16_000)]))
    with path.open("wb") as file:
        for offset in range(3_000):
            file.write(offset.to_bytes(8, "big") + batch[8:])
    tracemalloc.start()
    try:
        assert findings(path) == []
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 40 << 20
    assert most_bytes < 4 << 20


def test_check_of_random_damage_raises_nothing_and_finds_flipped_bits(plant: Plant) -> None:
    """No exception; a flipped bit is found wherever a checksum, or the log, shows it."""
    rng = random.Random(5)
    files = [path for path in sorted(plant.folder.rglob("*")) if path.is_file()]
    for _ in range(300):
        path = rng.choice(files)
        raw = path.read_bytes()
        data, at = bytearray(raw), rng.randrange(len(raw))
        is_flip = rng.random() < 0.5
        if is_flip:
            data[at] ^= 1 << rng.randrange(8)
        else:
            data[at : at + rng.randrange(len(raw))] = rng.randbytes(rng.randrange(40))
        path.write_bytes(data)
        found = findings(plant.folder)
        assert list(log_values(open_log(plant.folder), records=True))
        if is_flip and path.suffix in (".log", ".index", ".snapshot"):
            assert path in [one.file for one in found], (path.name, at)
        path.write_bytes(raw)
    assert findings(plant.folder) == []

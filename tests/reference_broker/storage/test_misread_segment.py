"""Segments with one wrong batch: our broker reads them as Kafka 4.4.0 does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.ids import Offset, TimeMs
from harness.codec.data_framing.log_folder import LOG
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.state.log.batch_bytes import UnforeseenBytes
from harness.reference_broker.state.log.stored_batch import stored_batches
from harness.reference_broker.storage.open_files import OpenFiles
from harness.reference_broker.storage.stored_segment import StoredSegment

INDEX_BYTES, BEGIN_MS = 1 << 16, 1_000
LENGTH_ENDS_AT, MAGIC_AT = 11, 16


@pytest.fixture
def files() -> Iterator[OpenFiles]:
    made = OpenFiles()
    yield made
    made.close_under(Path("/"))


@pytest.fixture
def segment(files: OpenFiles, tmp_path: Path) -> StoredSegment:
    """Two batches of a record each, and both are in the indexes."""
    made = StoredSegment(files, tmp_path, Offset(0), INDEX_BYTES)
    for offset in range(2):
        batch = RecordBatch(
            records=[Record(b"value", None)],
            base_offset=offset,
            base_timestamp=BEGIN_MS + offset,
        )
        (stored,) = stored_batches(encode_batch(batch, "none"))
        made.append(stored, interval_bytes=0, now=TimeMs(0))
    return made


def turn(segment: StoredSegment, at: int, byte: int) -> None:
    """Set a byte of the first batch."""
    with segment.path(LOG).open("r+b") as log:
        log.seek(at)
        log.write(bytes([byte]))


def byte_of(segment: StoredSegment, at: int) -> int:
    return segment.path(LOG).read_bytes()[at]


@pytest.mark.parametrize(("added_bytes", "are_read"), [(0, 1), (1, 0)])
def test_batch_that_overlaps_next_batch_is_not_read(
    segment: StoredSegment, added_bytes: int, are_read: int
) -> None:
    """An index leads to the next batch (`UnifiedLog`, rebuildProducerState)."""
    turn(segment, LENGTH_ENDS_AT, byte_of(segment, LENGTH_ENDS_AT) + added_bytes)
    assert len(list(segment.bytes_of_batches(0, stop=1))) == are_read


@pytest.mark.parametrize("magic", [0x80, 0xFF])
def test_timestamp_search_fails_at_batch_with_negative_magic(
    segment: StoredSegment, magic: int
) -> None:
    """The head of such a batch has no length (`LegacyRecord`, headerSize)."""
    assert [batch.base_offset for batch in segment.batches_reaching(BEGIN_MS + 1)] == [1]
    turn(segment, MAGIC_AT, magic)
    with pytest.raises(UnforeseenBytes, match=rf"byte 0: there is no magic {magic - 256}$"):
        list(segment.batches_reaching(BEGIN_MS))

"""A segment as brokers before 1.1.1 made it: its offsets are too far apart for its indexes."""

from pathlib import Path

from harness.codec.records import Record, RecordBatch, encode_batch

FAR = 2**31
BASES = (0, 5, FAR - 1, FAR + 20, FAR + 21, 2 * FAR + 30)
"""Base offsets of its batches; the third is the last that the first segment may have."""
NEXT, END = 2 * FAR + 50, 2 * FAR + 51
SPLIT = (0, FAR + 20, 2 * FAR + 30, NEXT)
"""Base offsets of the segments after the split."""
TIME_MS = 1_700_000_000_000


def batch_at(base: int) -> bytes:
    """A batch of one record, with a unique key."""
    record = Record(b"at %d" % base, b"%d" % base)
    return encode_batch(
        RecordBatch(
            [record],
            base_offset=base,
            base_timestamp=TIME_MS + base % FAR,
            partition_leader_epoch=0,
        ),
        "none",
    )


def write_segments(partition: Path) -> bytes:
    """Write it and the next segment, without indexes, and return the bytes of both."""
    partition.mkdir(exist_ok=True)
    first, second = b"".join(map(batch_at, BASES)), batch_at(NEXT)
    (partition / f"{0:020d}.log").write_bytes(first)
    (partition / f"{NEXT:020d}.log").write_bytes(second)
    return first + second


def begins_in(partition: Path) -> tuple[int, ...]:
    """The base offsets of the segments."""
    return tuple(sorted(int(path.stem) for path in partition.glob("*.log")))

"""A segment as brokers before 1.1.1 made them: its offsets are too far apart for its indexes."""

from pathlib import Path

from harness.codec.records import Record, RecordBatch, encode_batch

FAR = 2**31
BASES = (0, 5, FAR - 1, FAR + 20, FAR + 21, 2 * FAR + 30)
"""Of its batches; the third is the last that the first segment may have."""
NEXT, END = 2 * FAR + 50, 2 * FAR + 51
SPLIT = (0, FAR + 20, 2 * FAR + 30, NEXT)
"""Where segments begin when it was split."""
TIME_MS = 1_700_000_000_000


def batch_at(base: int) -> bytes:
    """One record, with a key of its own."""
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
    """It and the next one, without indexes; all that is in both."""
    partition.mkdir(exist_ok=True)
    first, second = b"".join(map(batch_at, BASES)), batch_at(NEXT)
    (partition / f"{0:020d}.log").write_bytes(first)
    (partition / f"{NEXT:020d}.log").write_bytes(second)
    return first + second


def begins_in(partition: Path) -> tuple[int, ...]:
    """Of its segments."""
    return tuple(sorted(int(path.stem) for path in partition.glob("*.log")))

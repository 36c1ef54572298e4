"""A small log directory in Kafka's layout, made by this project's writers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from harness.codec.data_framing import (
    CheckpointedOffset,
    CleanShutdown,
    EpochStart,
    MetaProperties,
    OffsetIndexEntry,
    PartitionMetadata,
    TimeIndexEntry,
    clean_shutdown_bytes,
    leader_epoch_checkpoint_bytes,
    meta_properties_bytes,
    offset_checkpoint_bytes,
    offset_index_bytes,
    partition_metadata_bytes,
    producer_snapshot_bytes,
    time_index_bytes,
    transaction_index_bytes,
)
from harness.codec.messages import AbortedTxn, ProducerSnapshot
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.record import Header, Record

PARTITION = "made-0"
BASES, BATCHES, COUNT = (0, 50, 100), 5, 10  # segments, batches in each, records in each
END = 150
EPOCHS = [EpochStart(0, 0), EpochStart(3, 70)]
PRODUCER, ITS_BATCH = 7, 60  # its only batch
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
FIRST_TIME = 1_700_000_000_000


def name_of(base_offset: int, suffix: str = ".log") -> str:
    return f"{base_offset:020}{suffix}"


def make_folder(folder: Path, *, clean: bool = False, padding_bytes: int = 0) -> Path:
    """Make the log directory; ``padding_bytes``: zeros behind the indexes of the last segment."""
    partition = folder / PARTITION
    partition.mkdir(parents=True)
    for base_offset in BASES:
        _segment(partition, base_offset, padding_bytes if base_offset == BASES[-1] else 0)
    aborted = AbortedTxn(
        producer_id=PRODUCER, first_offset=60, last_offset=69, last_stable_offset=70
    )
    (partition / name_of(50, ".txnindex")).write_bytes(transaction_index_bytes([aborted]))
    entry = ProducerSnapshot.ProducerEntry(
        producer_id=PRODUCER, epoch=0, last_sequence=COUNT - 1, last_offset=69, offset_delta=9
    )
    snapshot = producer_snapshot_bytes(ProducerSnapshot(producer_entries=[entry]))
    (partition / name_of(100, ".snapshot")).write_bytes(snapshot)
    (partition / "leader-epoch-checkpoint").write_bytes(leader_epoch_checkpoint_bytes(EPOCHS))
    metadata = partition_metadata_bytes(PartitionMetadata(0, UUID(int=5)))
    (partition / "partition.metadata").write_bytes(metadata)
    noted = {"recovery-point": 100, "replication": 150, "log-start": 0, "cleaner": 50}
    for name, offset in noted.items():
        entries = [CheckpointedOffset("made", 0, offset), CheckpointedOffset("gone", 0, 9)]
        (folder / f"{name}-offset-checkpoint").write_bytes(offset_checkpoint_bytes(entries))
    meta = MetaProperties({"version": "1", "node.id": "1", "cluster.id": "c"})
    (folder / "meta.properties").write_bytes(meta_properties_bytes(meta))
    if clean:
        (folder / ".kafka_cleanshutdown").write_bytes(clean_shutdown_bytes(CleanShutdown(11)))
    return folder


def _segment(partition: Path, base_offset: int, padding_bytes: int) -> None:
    data, offsets, times = b"", [], []
    for place in range(BATCHES):
        first = base_offset + place * COUNT
        batch = encode_batch(batch_at(first), CODECS[place])
        if place:  # behind the first interval, as Kafka does
            offsets.append(OffsetIndexEntry(first + COUNT - 1, len(data)))
            times.append(TimeIndexEntry(time_of(first + COUNT - 1), first + COUNT - 1))
        data += batch
    (partition / name_of(base_offset)).write_bytes(data)
    for suffix, index in (
        (".index", offset_index_bytes(offsets, base_offset)),
        (".timeindex", time_index_bytes(times, base_offset)),
    ):
        (partition / name_of(base_offset, suffix)).write_bytes(index + bytes(padding_bytes))


def time_of(offset: int) -> int:
    return FIRST_TIME + 1000 * offset


def batch_at(first: int, records: Sequence[Record] | None = None) -> RecordBatch:
    epoch = [start.epoch for start in EPOCHS if start.start_offset <= first][-1]
    made = [
        Record(b"v" * 300, b"k%d" % place, [Header("h", None)], timestamp_delta=1000 * place)
        for place in range(COUNT)
    ]
    batch = RecordBatch(
        made if records is None else records,
        base_offset=first,
        partition_leader_epoch=epoch,
        base_timestamp=time_of(first),
    )
    if first == ITS_BATCH:
        batch = replace(batch, producer_id=PRODUCER, producer_epoch=0, base_sequence=0)
    return batch

"""A replica's log as it was kept: what follows from its batches is found out anew.

Source: class LogLoader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.codec.records import BatchHeader
from harness.ids import Offset, TimeMs
from harness.reference_broker.state.batch_bytes import magic_of
from harness.reference_broker.state.following import stored_batches
from harness.reference_broker.state.leader_epochs import LeaderEpochs
from harness.reference_broker.state.log_store import KeptLog
from harness.reference_broker.state.partition_log import PartitionLog
from harness.reference_broker.state.segments import Segments

if TYPE_CHECKING:
    from harness.reference_broker.state.partition import Partition


def open_log(partition: Partition, kept: KeptLog, now: TimeMs) -> None:
    """Let the partition have this log. The high watermark may be behind, never ahead."""
    log, segments = PartitionLog(), Segments()
    epochs = LeaderEpochs(kept.epochs)
    for batch in stored_batches(kept.records):
        if log.end_offset < batch.base_offset and not log.size_bytes:
            log.start_offset = batch.base_offset
        log.append(batch)
        segments.note(batch, partition.config, now)
        epochs.appended(batch.leader_epoch, batch.base_offset)
        if magic_of(batch.data) == 2:
            partition.remember_producer(BatchHeader.read(batch.data))
    if kept.start is not None and kept.start > log.start_offset:
        if kept.start <= log.end_offset:
            log.delete_below(kept.start)
        else:
            log.restart_at(kept.start)
            kept.store.rewrite(())
    epochs.truncate_from(log.end_offset)
    log.store, epochs.noted = kept.store, kept.store.note_epochs
    partition.log, partition.segments, partition.epochs = log, segments, epochs
    committed = log.start_offset if kept.high_watermark is None else kept.high_watermark
    partition.high_watermark = Offset(max(log.start_offset, min(committed, log.end_offset)))

"""Follower side of one partition: the position of its fetches, and the use of the responses.

Source: classes AbstractFetcherThread, ReplicaFetcherThread and UnifiedLog; KIP-101, KIP-279,
KIP-595 (the Fetch response itself contains the point where logs diverge).
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from harness.base.ids import LeaderEpoch, Offset, TimeMs
from harness.reference_broker.effects import Effect, PartitionGrew
from harness.reference_broker.state.log.stored_batch import stored_batches
from harness.reference_broker.state.partition.partition import Partition

_UNDEFINED = -1
_BEGIN = Offset(0)


class FetchPosition(NamedTuple):
    """Position of a follower's next fetch: its log end offset and last epoch (-1 without any)."""

    offset: Offset
    last_fetched_epoch: int
    log_start_offset: Offset
    current_leader_epoch: LeaderEpoch

    def goes_on_at(self, now: FetchPosition) -> bool:
        """True if a response to a fetch from here fits a follower that is at `now`.

        Retention of its own may have moved the log's start meanwhile (class AbstractFetcherThread
        compares the fetch offset).
        """
        return self._replace(log_start_offset=now.log_start_offset) == now


def position_of(partition: Partition) -> FetchPosition:
    """Return the position of the next fetch."""
    latest = partition.epochs.latest
    return FetchPosition(
        partition.log.end_offset,
        _UNDEFINED if latest is None else latest,
        partition.log.start_offset,
        partition.leader_epoch,
    )


def append_fetched(
    partition: Partition, records: bytes, leader_high_watermark: int, leader_start: int, now: TimeMs
) -> list[Effect]:
    """Append the leader's records unchanged; adopt its high watermark and its log start offset.

    Batches that are in the log already are skipped; an incomplete batch comes whole in the next
    fetch.
    """
    if partition.log.is_offline:
        return []
    try:
        _append(partition, records, now)
    except OSError:
        return []
    end, start = partition.log.end_offset, partition.log.start_offset
    partition.high_watermark = Offset(max(start, min(end, leader_high_watermark)))
    if start < leader_start <= partition.high_watermark:
        partition.start_at(Offset(leader_start))
    return [PartitionGrew(partition.topic_id, partition.index)]


def _append(partition: Partition, records: bytes, now: TimeMs) -> None:
    for batch in stored_batches(records):
        if batch.last_offset < partition.log.end_offset:
            continue
        if batch.base_offset < partition.log.end_offset:
            _make_room(partition, batch.base_offset, now)
        partition.epochs.appended(batch.leader_epoch, batch.base_offset)
        partition.log.append(batch, partition.config, now)
        partition.remember_producer(batch.data)


def _make_room(partition: Partition, base: Offset, now: TimeMs) -> None:
    """Move the end of the log back to the base offset of a batch that is fetched whole.

    The log ends, or an empty log begins, within that batch. Source: class Partition
    (appendRecordsToFollowerOrFutureReplica).
    """
    if partition.log.start_offset == partition.log.end_offset:
        restart_at(partition, base, now)
    else:
        truncate(partition, base)


def needs_truncation(partition: Partition) -> bool:
    """Cut a log without epochs to its high watermark at a leader's first response.

    Return True if the log has become shorter. Without epochs the follower cannot find where its log
    diverges from the leader's. Before a response it must not cut anything: it may be the next
    leader. Source: class AbstractFetcherThread (truncateToHighWatermark); KIP-101 describes the
    records that this can lose.
    """
    if partition.epochs.latest is not None or partition.joined_epoch == partition.leader_epoch:
        return False
    partition.joined_epoch, before = partition.leader_epoch, partition.log.end_offset
    truncate(partition, partition.high_watermark)
    return partition.log.end_offset < before


def truncate_to_leader(partition: Partition, epoch: int, end_offset: int) -> None:
    """Truncate to the leader's log, where `epoch` ends at `end_offset`.

    `epoch` is the last one that both logs can have. Source: getOffsetTruncationState.
    """
    log = partition.log
    if end_offset == _UNDEFINED:
        truncate(partition, partition.high_watermark)
        return
    if epoch == _UNDEFINED:
        truncate(partition, Offset(min(end_offset, log.end_offset)))
        return
    own = partition.end_of_epoch(epoch)
    if own is None:
        truncate(partition, Offset(min(end_offset, log.end_offset)))
    elif own.epoch != epoch:
        truncate(partition, Offset(min(own.end_offset, log.end_offset)))
    else:
        truncate(partition, Offset(min(own.end_offset, end_offset, log.end_offset)))


def truncate(partition: Partition, end: Offset) -> None:
    """Truncate the log to `end`, with its epochs, its producers and its high watermark.

    An epoch is removed even if it has no record: a leader that wrote none would otherwise diverge
    from its next leader forever. Source: class UnifiedLog (truncateTo).
    """
    log = partition.log
    if partition.future is not None:
        with suppress(OSError):  # the other folder has failed: only the move ends
            truncate(partition.future, end)
    if end >= log.end_offset:
        partition.epochs.truncate_from(end)
        return
    if end < log.start_offset:
        restart_at(partition, end, partition.segments.active.modified_at)
        return
    log.truncate_from(end)
    partition.epochs.truncate_from(end)
    partition.high_watermark = Offset(min(partition.high_watermark, log.end_offset))
    partition.first_dirty = Offset(min(partition.first_dirty, log.end_offset))
    log.remember_producers(partition.producers, partition.segments.active.modified_at)


def restart_at(partition: Partition, offset: Offset, now: TimeMs) -> None:
    """Remove everything and continue at the leader's log start (truncateFullyAndStartAt)."""
    if partition.future is not None:
        with suppress(OSError):
            restart_at(partition.future, offset, now)
    partition.log.restart_at(offset, now)
    partition.epochs.truncate_from(_BEGIN)
    partition.high_watermark = partition.first_dirty = offset
    partition.producers.forget_all()

"""Follower's side of one partition: what it asks its leader for, and what it does with the answer.

Source: classes AbstractFetcherThread, ReplicaFetcherThread and UnifiedLog; KIP-101, KIP-279,
KIP-595 (the fetch itself tells where logs part).
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from harness.ids import LeaderEpoch, Offset, TimeMs
from harness.reference_broker.effects import Effect, PartitionGrew
from harness.reference_broker.state.partition import Partition
from harness.reference_broker.state.stored_batch import stored_batches

_UNDEFINED = -1
_BEGIN = Offset(0)


class FetchPosition(NamedTuple):
    """From where a follower goes on: its log's end, and the epoch in which it ends; -1 without."""

    offset: Offset
    last_fetched_epoch: int
    log_start_offset: Offset
    current_leader_epoch: LeaderEpoch


def position_of(partition: Partition) -> FetchPosition:
    """What the next fetch asks for."""
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
    """Append what the leader sent, exactly as it is, and believe its high watermark and log start.

    What was appended already is left out; a batch that is not whole comes with the next fetch.
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
    """The log ends, or an empty one begins, within a batch, and that comes whole.

    Source: class Partition (appendRecordsToFollowerOrFutureReplica).
    """
    if partition.log.start_offset == partition.log.end_offset:
        restart_at(partition, base, now)
    else:
        truncate(partition, base)


def goes_back(partition: Partition) -> bool:
    """Whether a leader's first answer sends a log without epochs back to its high watermark.

    Nothing else tells where it parts from the leader's. Not before there is an answer: who may
    lead next must not have cut anything yet. Source: class AbstractFetcherThread
    (truncateToHighWatermark); KIP-101 tells what it can lose.
    """
    if partition.epochs.latest is not None or partition.joined_epoch == partition.leader_epoch:
        return False
    partition.joined_epoch, before = partition.leader_epoch, partition.log.end_offset
    truncate(partition, partition.high_watermark)
    return partition.log.end_offset < before


def truncate_to_leader(partition: Partition, epoch: int, end_offset: int) -> None:
    """The leader says that `epoch`, the last that both can have, ends at `end_offset` there.

    Source: getOffsetTruncationState.
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
    """Let the log end at `end`, and with it all that is known of what was behind.

    An epoch goes also when nothing was written in it: who led without a record would else part
    from its next leader for ever. Source: class UnifiedLog (truncateTo).
    """
    log = partition.log
    if partition.future is not None:
        with suppress(OSError):  # of another folder: only the move ends with that
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
    """Forget everything and go on at the leader's log start (truncateFullyAndStartAt)."""
    if partition.future is not None:
        with suppress(OSError):
            restart_at(partition.future, offset, now)
    partition.log.restart_at(offset, now)
    partition.epochs.truncate_from(_BEGIN)
    partition.high_watermark = partition.first_dirty = offset
    partition.producers.forget_all()

"""The move of a replica to another log directory of its broker.

A future log there is filled from the present log, and replaces it when it has all records. Source:
KIP-113, KIP-858; classes ReplicaManager (alterReplicaLogDirs, maybeAddLogDirFetchers),
ReplicaAlterLogDirsThread and Partition (maybeReplaceCurrentWithFutureReplica).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

from harness.base.ids import Offset, PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import DirectoryChosen, ReplicaMoved
from harness.reference_broker.state.log.log_store import Place, Storage
from harness.reference_broker.state.partition.following import (
    append_fetched,
    restart_at,
    truncate,
    truncate_to_leader,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.partition.replica_host import Arrival
from harness.reference_broker.state.replica_moves.folders_in_memory import folders

if TYPE_CHECKING:
    from harness.reference_broker.effects import Effect
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.topics.cluster import ClusterState

_UNKNOWN_IS_TOLD = (2, 1)
_LENGTH_IS_CHECKED = (2, 2)  # KAFKA-4893
_LONGEST_NAME = 255
_SUFFIX_LENGTH = len(".-future") + 32
_PIECE_BYTES = 1_048_576  # replica.fetch.max.bytes


def wish(state: BrokerState, topic_name: str, index: int, path: str, now: TimeMs) -> ErrorCode:
    """Request that a replica be in that folder, now or when it is created; return an error.

    `moving_round` continues the move. A request for another folder cancels the move before it.
    """
    storage = state.cluster.host.storage
    topic = state.cluster.named(topic_name)
    partition = None if topic is None else topic.partition(index)
    refused = _refused(state, topic_name, index, path)
    if refused is not None:
        return refused
    if partition is None or not partition.is_here:
        _remember(state, (topic_name, index), path)
        is_told = partition is None and state.like.since(*_UNKNOWN_IS_TOLD)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return unknown if is_told else ErrorCode.REPLICA_NOT_AVAILABLE
    if storage is None:
        _remember(state, (topic_name, index), path)
        return ErrorCode.NONE
    return _begun(state, partition, storage, path, now)


def _refused(state: BrokerState, topic: str, index: int, path: str) -> ErrorCode | None:
    length, storage = len(f"{topic}-{index}") + _SUFFIX_LENGTH, state.cluster.host.storage
    if length > _LONGEST_NAME and state.like.since(*_LENGTH_IS_CHECKED):
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if storage is None:
        return None if path in folders(state) else ErrorCode.LOG_DIR_NOT_FOUND
    is_online = storage.is_online(path)
    if is_online is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    return None if is_online else ErrorCode.KAFKA_STORAGE_ERROR


def _remember(state: BrokerState, place: Place, path: str) -> None:
    host = state.cluster.host
    if host.storage is None:
        host.in_folder[place] = path
    else:
        host.storage.prefer(place, path)


def _begun(
    state: BrokerState, partition: Partition, storage: Storage, path: str, now: TimeMs
) -> ErrorCode:
    """Source: ReplicaManager (alterReplicaLogDirs), Partition (maybeCreateFutureReplica)."""
    if partition.log.is_offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if partition.future is not None and storage.path_of(partition.future.name) != path:
        state.effects.append(_take_back(partition, storage))
    if partition.future is not None or storage.path_of(partition.name) == path:
        return ErrorCode.NONE
    storage.prefer(partition.name.place, path)
    if storage.has_failed():  # the failed folder may have a future log already
        return ErrorCode.KAFKA_STORAGE_ERROR
    begin(partition, storage, now)
    return ErrorCode.KAFKA_STORAGE_ERROR if partition.future is None else ErrorCode.NONE


def _take_back(partition: Partition, storage: Storage) -> Effect:
    assert partition.future is not None
    name = partition.future.name
    ended = _end(partition)
    storage.delete(name)
    return ended


def begin(partition: Partition, storage: Storage, now: TimeMs) -> None:
    """Open or create the future log.

    The replica gets none if the folder fails at that, or if no file descriptor is left.
    """
    producers, name = partition.producers.of_another_log(), partition.name.future
    try:
        opened = storage.open(name, partition.config, producers, now)
    except OSError:
        return
    if opened.log.is_offline:
        return
    partition.future = Partition(
        partition.topic_id,
        partition.index,
        partition.config,
        opened.log,
        producers,
        partition.host,
        partition.registration,
        topic_name=partition.topic_name,
        is_future=True,
    )
    partition.future.take(opened)
    believed_in = partition.registration.directory_of(partition.host.own)
    is_known = not partition.host.tells_directories or storage.directory_of(name) == believed_in
    _note(partition, Arrival.KNOWN if is_known else Arrival.UNREPORTED)


def _note(partition: Partition, arrival: Arrival) -> None:
    partition.host.moving[partition.topic_id, partition.index] = arrival


def directory_is_known(
    cluster: ClusterState, key: tuple[UUID, PartitionIndex], directory: UUID
) -> None:
    """Note that the controller has accepted this directory for a replica, now or later."""
    partition, storage = _partition(cluster, key), cluster.host.storage
    future = None if partition is None else partition.future
    if partition is None or future is None or storage is None:
        return
    if cluster.host.moving.get(key) is not Arrival.REPORTED:
        return
    if storage.directory_of(future.name) == directory:
        _note(partition, Arrival.KNOWN)


def _partition(cluster: ClusterState, key: tuple[UUID, PartitionIndex]) -> Partition | None:
    topic = cluster.with_id(key[0])
    return None if topic is None else topic.partition(key[1])


def resume(cluster: ClusterState, now: TimeMs) -> None:
    """Continue the moves that began before the broker ended."""
    storage = cluster.host.storage
    for name in () if storage is None else storage.kept():
        topic = cluster.with_id(name.topic_id) if name.is_future else None
        partition = None if topic is None else topic.partition(name.index)
        if storage is not None and partition is not None and not partition.log.is_offline:
            begin(partition, storage, now)


def moving_round(
    cluster: ClusterState, now: Callable[[], TimeMs], may_go_on: Callable[[int], bool]
) -> Iterator[list[Effect]]:
    """Advance all moves, a piece in each step, until none can be advanced.

    `may_go_on` is called after each step with the number of bytes moved; False ends the round.
    """
    moving, storage = cluster.host.moving, cluster.host.storage
    goes_on = storage is not None
    while goes_on and storage is not None:
        goes_on = False
        for key in list(moving):
            partition = _partition(cluster, key)
            future = None if partition is None else partition.future
            if partition is None or future is None:
                continue
            before = future.log.end_offset
            moved_bytes, effects = _step(partition, future, storage, now())
            goes_on |= partition.future is future and future.log.end_offset != before
            yield effects
            if not may_go_on(moved_bytes):
                return


def _step(
    partition: Partition, future: Partition, storage: Storage, now: TimeMs
) -> tuple[int, list[Effect]]:
    """Copy one piece to the future log; return its size in bytes, and the effects."""
    future.config = partition.config
    records, effects, agree = b"", [], False
    with suppress(OSError):
        agree = not _parts(partition, future, now)
        if agree:
            log = partition.log
            records = log.read(future.log.end_offset, _PIECE_BYTES, at_least_one=True)
            effects = append_fetched(
                future, records, partition.high_watermark, log.start_offset, now
            )
    if partition.log.is_offline or future.log.is_offline:
        effects.append(_end(partition))  # the files of the future log stay
    elif agree and future.log.end_offset == partition.log.end_offset:
        effects += _arrived(partition, future, storage)
    return len(records), effects


def _arrived(partition: Partition, future: Partition, storage: Storage) -> list[Effect]:
    """Report a complete future log to the controller, or replace the present log by it.

    The future log takes the place of the present one when the controller knows its directory.
    """
    arrival = partition.host.moving[partition.topic_id, partition.index]
    if arrival is Arrival.KNOWN:
        return [_take_place(partition, future, storage)]
    directory = storage.directory_of(future.name)
    if arrival is Arrival.REPORTED or directory is None:
        return []
    _note(partition, Arrival.REPORTED)
    return [DirectoryChosen(future.topic_id, future.index, directory)]


def _parts(partition: Partition, future: Partition, now: TimeMs) -> bool:
    """True if the future log was not a prefix of the present one, and was therefore cut.

    A leader does the same comparison for a fetching follower (class Partition, readRecords;
    KIP-595).
    """
    end, latest = future.log.end_offset, future.epochs.latest
    if end < partition.log.start_offset:
        restart_at(future, partition.log.start_offset, now)
        return True
    known = None if latest is None else partition.end_of_epoch(latest)
    if known is not None and known.epoch == latest and known.end_offset >= end:
        return False
    if known is not None:
        truncate_to_leader(future, known.epoch, known.end_offset)
    elif latest is not None:  # the present log has no such epoch
        truncate(future, future.epochs.entries[-1].start_offset)
    elif end > partition.log.end_offset:
        truncate(future, partition.log.end_offset)
    else:
        return False
    return True


def _take_place(partition: Partition, future: Partition, storage: Storage) -> Effect:
    if not storage.put_future_in_place(partition.name):
        return _end(partition)
    if partition.epochs.entries:  # the last one may have no record yet
        future.epochs.assign(*partition.epochs.entries[-1])
    partition.producers.forget_all()
    partition.log, partition.epochs = future.log, future.epochs
    partition.producers = future.producers
    ended = _end(partition)
    partition.note_offsets()
    return ended


def _end(partition: Partition) -> Effect:
    """End the move; the effect causes a comparison with the directory that the controller knows."""
    partition.future = None
    partition.host.moving.pop((partition.topic_id, partition.index), None)
    return ReplicaMoved(partition.topic_id, partition.index)


def lag_of(partition: Partition, end: Offset, *, is_future: bool) -> int:
    """Return the number of offsets that a log of the partition lacks; -1 if that is not known.

    The reference is the log end offset for a future log, and the high watermark for the present
    one.
    """
    if partition.log.is_offline:
        return -1
    if is_future:
        return partition.log.end_offset - end
    return max(partition.high_watermark - end, 0)

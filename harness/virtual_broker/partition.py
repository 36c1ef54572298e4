"""One partition with virtual followers, one request at a time; every response is recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.older_forms import with_one_offset
from harness.client.only import only
from harness.client.requests import (
    LATEST,
    READ_MIN_BYTES,
    READ_WAIT_MS,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse, ListOffsetsResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.records.any_format import read_records
from harness.histories.replication import Observation
from harness.virtual_broker.membership import Membership, PartitionState, VirtualWorld

ANYBODY, DEBUGGER = -1, -2
"""Replica ids of clients that are no replica: a consumer, and one that gets the log's true end."""
FIRST_WITH_REPLICA_STATE = 15
_LIMIT_BYTES = 1 << 24
Told = FetchResponse.PartitionData


@dataclass(frozen=True, slots=True)
class FetchedRecords:
    """The response to a fetch: the offsets of its records, and all other fields."""

    offsets: tuple[int, ...]
    told: Told

    @property
    def error(self) -> int:
        return self.told.error_code

    @property
    def high_watermark(self) -> int:
        return self.told.high_watermark


@dataclass(slots=True)
class WatchedPartition:
    """Partition 0 of a topic with the real broker as its leader, or as its next one.

    ``seen`` has the content of all responses, in their order, for
    :func:`harness.histories.replication.check_replication`.
    """

    broker: BrokerUnderTest
    world: VirtualWorld
    topic: Topic
    leader: int
    replicas: tuple[int, ...]
    fetch_version: int
    seen: list[Observation] = field(default_factory=list)
    began_s: float = field(default_factory=time.monotonic)

    # -- what clients do -------------------------------------------------------------------------

    def produce(self, count: int = 1, *, acks: int = 1) -> int:
        """Append records one by one, each in a batch of its own so that any offset can be an end.

        Returns the offset of the last. Raises PreparationFailed: one was refused.
        """
        answer = None
        for number in range(count):
            answer = self.broker.produce(self.topic, batch_of(b"r%d" % number), acks=acks)
            if answer.error_code != ErrorCode.NONE:
                told = ErrorCode.describe(answer.error_code)
                raise PreparationFailed(f"Produce to {self.topic.name}: {told}", answer.error_code)
        return -1 if answer is None else answer.base_offset

    def consume(self, offset: int, version: int | None = None) -> FetchedRecords:
        """Fetch as a consumer, at the broker's highest version unless one is given."""
        read = self._fetch(ANYBODY, -1, offset, self._version(version))
        self._note(f"consumer fetch {offset}", read, read_to=max(read.offsets, default=-1) + 1)
        return read

    def latest(self) -> int:
        """Return the latest offset for a consumer. Raises PreparationFailed: an error."""
        found = self._list_offset(ANYBODY)
        self._see("ListOffsets latest", high_watermark=found)
        return found

    # -- what replicas do ------------------------------------------------------------------------

    def follow(
        self,
        follower: Membership,
        offset: int,
        *,
        broker_epoch: int | None = None,
        version: int | None = None,
        leader_epoch: int = -1,
        last_fetched_epoch: int = -1,
        log_start: int = 0,
    ) -> FetchedRecords:
        """Fetch as this replica: it has all from ``log_start`` to ``offset`` and asks for more.

        ``broker_epoch``: that of its registration unless another is given, sent from version 15 on.
        Epochs of -1 mean none: the leader does not check them.
        """
        version, replica = self._version(version), follower.broker_id
        broker_epoch = follower.broker_epoch if broker_epoch is None else broker_epoch
        read = self._fetch(
            replica,
            broker_epoch,
            offset,
            version,
            leader_epoch=leader_epoch,
            last_fetched_epoch=last_fetched_epoch,
            log_start=log_start,
        )
        taken = offset if read.error == ErrorCode.NONE else -1
        if taken >= 0:
            self._see(f"replica {replica} has fetched {offset}", replica=replica, confirmed=taken)
        self._note(f"replica {replica} fetches {offset}", read)
        return read

    def log_end(self) -> int:
        """Return the leader's log end offset. Raises PreparationFailed: an error."""
        found = self._list_offset(DEBUGGER)
        self._see("ListOffsets of a debugger", log_end_offset=found)
        return found

    # -- what the cluster knows ------------------------------------------------------------------

    def state(self) -> PartitionState:
        """Return leader and ISR as the cluster has them now."""
        found = self.world.state(self.topic.name, 0)
        if found.isr:
            self._see(
                "the cluster's state",
                leader=found.leader,
                leader_epoch=found.leader_epoch,
                isr=found.isr,
            )
        return found

    def await_isr(self, *wanted: int) -> PartitionState:
        """Wait until the ISR has exactly these members. Raises ResponseTimeout."""
        isr = tuple(sorted(wanted))
        self.broker.eventually(
            lambda: self.world.state(self.topic.name, 0).isr == isr, f"the ISR is {isr}"
        )
        return self.state()

    # -- wire ------------------------------------------------------------------------------------

    def _version(self, version: int | None) -> int:
        return self.fetch_version if version is None else version

    def _fetch(
        self,
        replica: int,
        broker_epoch: int,
        offset: int,
        version: int,
        *,
        leader_epoch: int = -1,
        last_fetched_epoch: int = -1,
        log_start: int = 0,
    ) -> FetchedRecords:
        request = replica_fetch(
            self.topic,
            version,
            offset,
            replica=replica,
            broker_epoch=broker_epoch,
            leader_epoch=leader_epoch,
            last_fetched_epoch=last_fetched_epoch,
            log_start=log_start,
        )
        return read_of(self.broker.ask(request, version))

    def _list_offset(self, replica: int) -> int:
        version = self.broker.version("ListOffsets")
        request = list_offsets_request(self.topic, LATEST)
        request.replica_id = replica
        answer: ListOffsetsResponse = self.broker.ask(request, version)
        found = with_one_offset(only(only(answer.topics, "topic").partitions, "partition"), version)
        if found.error_code != ErrorCode.NONE:
            told = ErrorCode.describe(found.error_code)
            raise PreparationFailed(f"ListOffsets as {replica}: {told}", found.error_code)
        return found.offset

    def _note(self, what: str, read: FetchedRecords, *, read_to: int = -1) -> None:
        if read.error != ErrorCode.NONE:
            return
        told = read.told
        self._see(
            what,
            high_watermark=told.high_watermark,
            last_stable_offset=told.last_stable_offset,
            log_start_offset=told.log_start_offset,
            read_to=read_to if read.offsets else -1,
        )

    def _see(self, what: str, **told: object) -> None:
        at_ms = (time.monotonic() - self.began_s) * 1000
        place = f"{self.topic.name}-0"
        self.seen.append(Observation(what, at_ms, self.leader, place, **told))  # type: ignore[arg-type]


def batch_of(value: bytes) -> bytes:
    """Return a batch of one record with the present time: older ones may fall to the retention."""
    batch = RecordBatch([Record(value)], base_timestamp=time.time_ns() // 1_000_000)
    return encode_batch(batch)


def replica_fetch(
    topic: Topic,
    version: int,
    offset: int,
    *,
    replica: int,
    broker_epoch: int = -1,
    leader_epoch: int = -1,
    last_fetched_epoch: int = -1,
    log_start: int = 0,
    max_wait_ms: int = READ_WAIT_MS,
    min_bytes: int = READ_MIN_BYTES,
) -> FetchRequest:
    """Return a full fetch of partition 0, without a session (replica -1: as a consumer)."""
    wanted = fetch_partition(offset)
    wanted.current_leader_epoch, wanted.last_fetched_epoch = leader_epoch, last_fetched_epoch
    if replica >= 0:
        wanted.log_start_offset = log_start
    request = fetch_request(
        [fetch_topic(topic, version, [wanted])], max_wait_ms=max_wait_ms, min_bytes=min_bytes
    )
    if version >= FIRST_WITH_REPLICA_STATE:
        request.replica_state = FetchRequest.ReplicaState(
            replica_id=replica, replica_epoch=broker_epoch
        )
    else:
        request.replica_id = replica
    return request


def read_of(answer: FetchResponse) -> FetchedRecords:
    """Return the only partition of a response. Raises PreparationFailed: it is all refused."""
    if answer.error_code != ErrorCode.NONE:
        told = ErrorCode.describe(answer.error_code)
        raise PreparationFailed(f"Fetch is refused: {told}", answer.error_code)
    told_of = only(only(answer.responses, "topic").partitions, "partition")
    return FetchedRecords(offsets_in(bytes(told_of.records or b"")), told_of)


def offsets_in(records: bytes) -> tuple[int, ...]:
    """Return the offsets of all whole records, whatever their format."""
    found = read_records(records, limit_bytes=_LIMIT_BYTES)
    return tuple(record.offset for batch in found.batches for record in batch.records)

"""The plan of a fetch: each partition that it names, resolved once.

Theory of operation. A fetch names partitions by topic name or by topic id. Before a read each of
them is looked up and checked: it exists, this broker has a replica of it, the leader epoch of the
request is right, and this broker may answer the reader. The result is a plan, a value that all
later steps read: the reads, the notes about a follower, the conversion for old versions, the
current leader in an error. No later step looks a partition up.

A plan is valid until the state changes. A fetch that waits is planned again at each attempt: a
partition may have got another leader, or have been deleted, in between.

Source: class ReplicaManager (readFromLog), class FetchIsolation; KIP-74, KIP-320, KIP-392, KIP-516.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from harness.base.ids import BrokerId, PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode

if TYPE_CHECKING:
    from harness.reference_broker.state.fetch.fetch_sessions import FetchKey, WantedPartition
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.topics.cluster import ClusterState

_NO_LEADER_EPOCH = -1  # and every lower value, other than in ListOffsets
_FUTURE_REPLICA = -3  # of a broker that moves a log to another directory


class FetchIsolation(Enum):
    """The end of the records that a fetch may read, with Kafka's names."""

    LOG_END = "the log end offset"
    HIGH_WATERMARK = "the high watermark"
    TXN_COMMITTED = "the last stable offset"


# Names of their own: an attribute of an Enum is as slow as a call, and these are read every time.
NO_PROBLEM = ErrorCode.NONE
LOG_END, HIGH_WATERMARK, TXN_COMMITTED = FetchIsolation


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Fields of a fetch request that apply to all its partitions.

    `replica_id` is the follower's, negative for consumers; `broker_epoch` is its incarnation, -1 if
    not sent. `is_hard`: even the first batch is cut (before KIP-74). `may_follow`: a follower may
    answer a consumer too (KIP-392). `misses_topics_only`: a partition that does not exist is an
    error like others if its topic exists (before 2.0). `reads_to_end`: where nothing
    may be read yet, limits below 0 are refused and later aborted transactions listed (before 2.4).
    `may_read`: the names of topics that an authorizer lets the client read; None without one.
    `is_held`: the partitions of which a quota on replication keeps the records back.
    """

    min_bytes: int
    max_bytes: int
    replica_id: int = -1
    broker_epoch: int = -1
    is_hard: bool = False
    may_follow: bool = True
    rack: str = ""
    read_committed: bool = False
    misses_topics_only: bool = False
    reads_to_end: bool = False
    may_read: Callable[[str], bool] | None = None
    is_held: Callable[[Partition], bool] | None = None

    @property
    def from_replica(self) -> bool:
        """True if a follower fetches; the leader learns from it how far records are replicated."""
        return self.replica_id >= 0

    @property
    def reads_log_end(self) -> bool:
        """True if the fetch reads records that are not committed too."""
        return self.from_replica or self.replica_id == _FUTURE_REPLICA

    @property
    def isolation(self) -> FetchIsolation:
        """The end of the records that the fetch may read."""
        if self.reads_log_end:
            return FetchIsolation.LOG_END
        return (
            FetchIsolation.TXN_COMMITTED if self.read_committed else FetchIsolation.HIGH_WATERMARK
        )

    @property
    def leader_only(self) -> bool:
        """True if only the leader may answer."""
        return self.from_replica or (not self.may_follow and self.replica_id != _FUTURE_REPLICA)


class PartitionPlan(NamedTuple):
    """One partition of a fetch. `partition` is None if it does not exist.

    `problem` is the error of the lookup, or else of the checks of leader, epoch and follower; NONE
    if the partition may be read. `is_missing`: other partitions need not wait for its error.
    """

    want: WantedPartition
    partition: Partition | None
    problem: ErrorCode
    is_missing: bool = False


class FetchPlan(NamedTuple):
    """All partitions of a fetch by their keys, in the order in which the answer is filled."""

    limits: FetchLimits
    isolation: FetchIsolation
    partitions: Mapping[FetchKey, PartitionPlan]
    now: TimeMs

    @property
    def found(self) -> frozenset[tuple[UUID, PartitionIndex]]:
        """Topic id and index of the partitions that exist."""
        return frozenset(
            [
                (one.partition.topic_id, one.partition.index)
                for one in self.partitions.values()
                if one.partition is not None
            ]
        )

    @property
    def missing(self) -> frozenset[FetchKey]:
        """The keys of the partitions that do not exist."""
        return frozenset([key for key, one in self.partitions.items() if one.is_missing])


def plan_fetch(
    cluster: ClusterState, wanted: Iterable[WantedPartition], limits: FetchLimits, now: TimeMs
) -> FetchPlan:
    """Look up and check each partition of a fetch."""
    partitions = {want.key: _planned(cluster, want, limits) for want in wanted}
    return FetchPlan(limits, limits.isolation, partitions, now)


def _planned(cluster: ClusterState, want: WantedPartition, limits: FetchLimits) -> PartitionPlan:
    if limits.may_read is not None and _is_hidden(cluster, want, limits.may_read):
        return PartitionPlan(want, None, ErrorCode.TOPIC_AUTHORIZATION_FAILED, True)
    found = find_partition(cluster, want.key, want.known_name)
    if isinstance(found, ErrorCode):
        if limits.misses_topics_only and _topic_is_known(cluster, want):
            error = found if limits.leader_only else ErrorCode.REPLICA_NOT_AVAILABLE
            return PartitionPlan(want, None, error)
        is_missing = found is not ErrorCode.INCONSISTENT_TOPIC_ID
        return PartitionPlan(want, None, found, is_missing)
    return PartitionPlan(want, found, _problem_of(found, want, limits))


def _is_hidden(
    cluster: ClusterState, want: WantedPartition, may_read: Callable[[str], bool]
) -> bool:
    """Return True if the topic has a name, and the client may not read it."""
    named = want.key[0]
    if isinstance(named, str):
        return not may_read(named)
    topic = cluster.with_id(named)
    name = want.known_name if topic is None else topic.name
    return name is not None and not may_read(name)


def _topic_is_known(cluster: ClusterState, want: WantedPartition) -> bool:
    name = want.key[0]
    return isinstance(name, str) and cluster.named(name) is not None


def find_partition(
    cluster: ClusterState, key: FetchKey, known_name: str | None = None
) -> Partition | ErrorCode:
    """Return the partition that a fetch names by topic name or by id, or an error.

    `known_name` is the topic name that the id stood for earlier.
    """
    named, index = key
    if isinstance(named, str):
        topic, unknown = cluster.named(named), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        topic, unknown = cluster.with_id(named), ErrorCode.UNKNOWN_TOPIC_ID
        if topic is None and known_name is not None:
            is_another = cluster.named(known_name) is not None
            return (
                ErrorCode.INCONSISTENT_TOPIC_ID
                if is_another
                else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
    if topic is None:
        return unknown
    return topic.partition(index) or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _problem_of(partition: Partition, want: WantedPartition, limits: FetchLimits) -> ErrorCode:
    if not partition.is_here:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    error = partition.epoch_problem(max(want.current_leader_epoch, _NO_LEADER_EPOCH))
    if error is not NO_PROBLEM:
        return error
    if partition.leading is None and limits.leader_only:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if limits.from_replica:
        knows_epoch = want.current_leader_epoch >= 0
        follower = BrokerId(limits.replica_id)
        return partition.follower_problem(follower, limits.broker_epoch, knows_epoch=knows_epoch)
    return NO_PROBLEM

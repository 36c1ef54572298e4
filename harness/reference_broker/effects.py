"""The effects that state objects return, in the order in which the node must carry them out."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from harness.base.ids import GroupId, PartitionIndex, ProducerEpoch, ProducerId


@dataclass(frozen=True, slots=True)
class PartitionGrew:
    """Records were appended or became readable: requests that wait for this partition try again."""

    topic_id: UUID
    partition_index: PartitionIndex


@dataclass(frozen=True, slots=True)
class IsrProposed:
    """The broker must ask the controller for another ISR."""

    topic_id: UUID
    partition_index: PartitionIndex


@dataclass(frozen=True, slots=True)
class ReplicaMoved:
    """The broker leads, follows or leaves a partition now.

    Requests that wait there try again, and a follower fetches from the new leader.
    """

    topic_id: UUID
    partition_index: PartitionIndex


@dataclass(frozen=True, slots=True)
class DirectoryChosen:
    """The broker must inform the controller that a replica will be in this directory (KIP-858)."""

    topic_id: UUID
    partition_index: PartitionIndex
    directory: UUID


@dataclass(frozen=True, slots=True)
class CreationWanted:
    """A client needs a topic that does not exist: the broker must ask the controller for it."""

    name: str
    partition_count: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TopicDeleted:
    """The topic is gone: fetches that wait for any of its partitions return the error."""

    topic_id: UUID
    partition_count: int


@dataclass(frozen=True, slots=True)
class GroupMoved:
    """The group has changed: waiting joins and syncs may be complete."""

    group_id: GroupId


@dataclass(slots=True, eq=False)
class TransactionCheck:
    """A check of partitions by a coordinator on another broker (KIP-890).

    `adds`: partitions that the transaction does not have are added. `outcome`: the error codes by
    topic and partition, None until they are known.
    """

    transactional_id: str
    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    places: tuple[tuple[str, PartitionIndex], ...]
    adds: bool
    outcome: Mapping[tuple[str, PartitionIndex], int] | None = None


@dataclass(frozen=True, slots=True)
class CheckWanted:
    """The broker must send the check to the coordinator."""

    check: TransactionCheck


@dataclass(frozen=True, slots=True)
class CheckMade:
    """The outcome of the check is known: the request that waits for it continues."""

    check: TransactionCheck


@dataclass(frozen=True, slots=True)
class MarkersAwaited:
    """Leaders on other brokers must write markers of decided transactions."""


Effect = (
    PartitionGrew
    | IsrProposed
    | ReplicaMoved
    | DirectoryChosen
    | CreationWanted
    | TopicDeleted
    | GroupMoved
    | CheckWanted
    | CheckMade
    | MarkersAwaited
)

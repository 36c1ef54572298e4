"""The effects that state objects return, in the order in which the node must carry them out."""

from dataclasses import dataclass
from uuid import UUID

from harness.base.ids import GroupId, PartitionIndex


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


Effect = (
    PartitionGrew
    | IsrProposed
    | ReplicaMoved
    | DirectoryChosen
    | CreationWanted
    | TopicDeleted
    | GroupMoved
)

"""What state objects ask the world to do, returned in the order in which it must happen."""

from dataclasses import dataclass
from uuid import UUID

from harness.ids import GroupId, PartitionIndex


@dataclass(frozen=True, slots=True)
class PartitionGrew:
    """Records were appended or became readable: who waits for this partition looks again."""

    topic_id: UUID
    partition_index: PartitionIndex


@dataclass(frozen=True, slots=True)
class IsrProposed:
    """The controller is to be asked for another set of replicas in sync."""

    topic_id: UUID
    partition_index: PartitionIndex


@dataclass(frozen=True, slots=True)
class ReplicaMoved:
    """The broker leads, follows or leaves a partition now: who waits there looks again, and it is
    fetched from where its leader is."""

    topic_id: UUID
    partition_index: PartitionIndex


@dataclass(frozen=True, slots=True)
class DirectoryChosen:
    """The controller is to be told that a replica will be in this directory (KIP-858)."""

    topic_id: UUID
    partition_index: PartitionIndex
    directory: UUID


@dataclass(frozen=True, slots=True)
class CreationWanted:
    """Somebody asked for a topic that does not exist: the controller is to be asked for it."""

    name: str
    partition_count: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TopicDeleted:
    """The topic is gone: fetches that wait for any of its partitions answer with the error."""

    topic_id: UUID
    partition_count: int


@dataclass(frozen=True, slots=True)
class GroupMoved:
    """Something changed in the group: joins and syncs that wait may have their answers."""

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

"""User data of Kafka Streams members in the consumer protocol, versions 1 to 11.

The subscription's user data follows the schema ``SubscriptionInfoData``; the first field is the
version. Of a newer version only the two version numbers are read (version probing). The
assignment's user data never had a schema: Java's ``DataOutputStream`` writes it. Source:
``SubscriptionInfo``, ``AssignmentInfo``, ``ConsumerProtocolUtils``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from harness.codec import messages
from harness.codec.data_framing.java_data import JavaDataReader, JavaDataWriter
from harness.codec.message_codec import decode, encode

if TYPE_CHECKING:
    from harness.codec.messages import SubscriptionInfoData

T = TypeVar("T")
LATEST_VERSION = 11
UNKNOWN = -1  # the latest supported version of members before version 3
LATEST_SUPPORTED_SINCE = 3
ERROR_SINCE = 4
DICTIONARY_SINCE = 5
STANDBY_HOSTS_SINCE = 6
NEXT_REBALANCE_SINCE = 7
TOPOLOGY_NAME_SINCE = 10
NEVER_MS = 2**63 - 1
_INT32 = struct.Struct(">i")


class SubscriptionInfo(NamedTuple):
    """``message`` is None when the version is newer than 11."""

    version: int
    latest_supported_version: int
    message: SubscriptionInfoData | None


def read_subscription_info(data: bytes) -> SubscriptionInfo:
    """User data of a Streams member's subscription. Raises DecodeError."""
    reader = JavaDataReader(data, "SubscriptionInfoData")
    version = reader.int32("version")
    if version > LATEST_VERSION:
        return SubscriptionInfo(version, reader.int32("latest_supported_version"), None)
    cls = messages.SubscriptionInfoData
    if version not in cls.message_spec.valid:
        raise reader.fail(f"version {version} is none of {cls.message_spec.valid}", "version", 0)
    message = decode(cls, version, data)
    return SubscriptionInfo(version, message.latest_supported_version, message)


def subscription_info_bytes(message: SubscriptionInfoData) -> bytes:
    """User data at the version that the message says. Raises EncodeError."""
    return encode(message, message.version)


class TaskId(NamedTuple):
    """``topology_name`` is None but for named topologies, which version 10 can carry."""

    subtopology: int
    partition: int
    topology_name: str | None = None


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class HostInfo(NamedTuple):
    host: str
    port: int


HostPartitions = list[tuple[HostInfo, list[TopicPartition]]]


class AssignmentInfo(NamedTuple):
    """User data of a Streams member's assignment, in the order of its bytes.

    ``topics`` is the dictionary of versions 5 and up, number -> topic; empty means that the
    encoder makes one. What a version lacks has its default.
    """

    version: int
    commonly_supported_version: int = UNKNOWN
    active_tasks: list[TaskId] = []  # noqa: RUF012 - never changed
    standby_tasks: list[tuple[TaskId, list[TopicPartition]]] = []  # noqa: RUF012
    topics: dict[int, str] = {}  # noqa: RUF012
    partitions_by_host: HostPartitions = []  # noqa: RUF012
    standby_partitions_by_host: HostPartitions = []  # noqa: RUF012
    err_code: int = 0
    next_rebalance_ms: int = NEVER_MS


def read_assignment_info(data: bytes) -> AssignmentInfo:
    """User data of a Streams member's assignment. Raises DecodeError, also for a newer version."""
    return _AssignmentReader(data).read()


class _AssignmentReader(JavaDataReader):
    def __init__(self, data: bytes) -> None:
        super().__init__(data, "AssignmentInfo")

    def read(self) -> AssignmentInfo:
        version = self.version = self.int32("version")
        if not 1 <= version <= LATEST_VERSION:
            raise self.fail(f"version {version} is none of 1-{LATEST_VERSION}", "version", 0)
        common = UNKNOWN
        if version >= LATEST_SUPPORTED_SINCE:
            common = self.int32("commonly_supported_version")
        active = self.list_of("active_tasks", 8, self.task_id)
        standby = self.list_of("standby_tasks", 12, self.standby_task)
        topics = {}
        if version >= DICTIONARY_SINCE:
            topics = dict(self.list_of("topics", 6, self.topic))
        self.topics = topics
        hosts = self.list_of("partitions_by_host", 10, self.host) if version >= 2 else []
        standby_hosts: HostPartitions = []
        if version >= STANDBY_HOSTS_SINCE:
            standby_hosts = self.list_of("standby_partitions_by_host", 10, self.host)
        error = self.int32("err_code") if version >= ERROR_SINCE else 0
        next_ms = self.int64("next_rebalance_ms") if version >= NEXT_REBALANCE_SINCE else NEVER_MS
        self.finish()
        return AssignmentInfo(
            version, common, active, standby, topics, hosts, standby_hosts, error, next_ms
        )

    def task_id(self, path: str) -> TaskId:
        subtopology, partition = (
            self.int32(f"{path}.subtopology"),
            self.int32(f"{path}.partition"),
        )
        if self.version < TOPOLOGY_NAME_SINCE:
            return TaskId(subtopology, partition)
        return TaskId(subtopology, partition, self.chars(f"{path}.topology_name") or None)

    def standby_task(self, path: str) -> tuple[TaskId, list[TopicPartition]]:
        task = self.task_id(path)
        return task, self.list_of(f"{path}.partitions", 6, self.topic_partition)

    def topic_partition(self, path: str) -> TopicPartition:
        return TopicPartition(self.utf(f"{path}.topic"), self.int32(f"{path}.partition"))

    def topic(self, path: str) -> tuple[int, str]:
        return self.int32(f"{path}.number"), self.utf(f"{path}.topic")

    def numbered_partition(self, path: str) -> TopicPartition:
        start = self.offset
        number = self.int32(f"{path}.topic")
        if number not in self.topics:
            raise self.fail(f"topic {number} is not in the dictionary", f"{path}.topic", start)
        return TopicPartition(self.topics[number], self.int32(f"{path}.partition"))

    def host(self, path: str) -> tuple[HostInfo, list[TopicPartition]]:
        host = HostInfo(self.utf(f"{path}.host"), self.int32(f"{path}.port"))
        if self.version >= DICTIONARY_SINCE:
            return host, self.list_of(f"{path}.partitions", 8, self.numbered_partition)
        return host, self.list_of(f"{path}.partitions", 6, self.topic_partition)


def assignment_info_bytes(info: AssignmentInfo) -> bytes:
    """User data at ``info.version``. Raises EncodeError for what the version cannot carry."""
    return _AssignmentWriter(info).write()


class _AssignmentWriter(JavaDataWriter):
    def __init__(self, info: AssignmentInfo) -> None:
        super().__init__("AssignmentInfo", info.version)
        self.info = info
        topics = list(info.topics.values()) or dict.fromkeys(
            partition.topic
            for hosts in (info.partitions_by_host, info.standby_partitions_by_host)
            for _, partitions in hosts
            for partition in partitions
        )
        self.numbers = {topic: number for number, topic in enumerate(topics)}
        if info.topics:
            self.numbers = {topic: number for number, topic in info.topics.items()}

    def write(self) -> bytes:
        info, version = self.info, self.info.version
        if not 1 <= version <= LATEST_VERSION:
            raise self.fail(f"version {version} is none of 1-{LATEST_VERSION}", "version")
        self.refuse_what_is_absent()
        self.int32(version)
        if version >= LATEST_SUPPORTED_SINCE:
            self.int32(info.commonly_supported_version)
        self.list_of(info.active_tasks, self.task_id)
        self.list_of(info.standby_tasks, self.standby_task)
        if version >= DICTIONARY_SINCE:
            self.list_of([(number, topic) for topic, number in self.numbers.items()], self.topic)
        if version >= 2:
            self.list_of(info.partitions_by_host, self.host)
        if version >= STANDBY_HOSTS_SINCE:
            self.list_of(info.standby_partitions_by_host, self.host)
        if version >= ERROR_SINCE:
            self.int32(info.err_code)
        if version >= NEXT_REBALANCE_SINCE:
            self.int64(info.next_rebalance_ms)
        return bytes(self.out)

    def refuse_what_is_absent(self) -> None:
        """The other fields that a version lacks are derived, so they are left out silently."""
        if self.info.version < 2 and self.info.partitions_by_host:
            raise self.fail("version 1 does not have this field", "partitions_by_host")
        if self.info.version < STANDBY_HOSTS_SINCE and self.info.standby_partitions_by_host:
            problem = f"version {self.info.version} does not have this field"
            raise self.fail(problem, "standby_partitions_by_host")

    def task_id(self, task: TaskId) -> None:
        self.int32(task.subtopology)
        self.int32(task.partition)
        if self.info.version >= TOPOLOGY_NAME_SINCE:
            self.chars(task.topology_name or "")
        elif task.topology_name is not None:
            problem = f"version {self.info.version} has no named topologies"
            raise self.fail(problem, "topology_name")

    def standby_task(self, entry: tuple[TaskId, list[TopicPartition]]) -> None:
        self.task_id(entry[0])
        self.list_of(entry[1], self.topic_partition)

    def topic_partition(self, partition: TopicPartition) -> None:
        self.utf(partition.topic)
        self.int32(partition.partition)

    def topic(self, entry: tuple[int, str]) -> None:
        self.int32(entry[0])
        self.utf(entry[1])

    def numbered_partition(self, partition: TopicPartition) -> None:
        if partition.topic not in self.numbers:
            raise self.fail(f"topic {partition.topic!r} is not in the dictionary", "topics")
        self.int32(self.numbers[partition.topic])
        self.int32(partition.partition)

    def host(self, entry: tuple[HostInfo, list[TopicPartition]]) -> None:
        self.utf(entry[0].host)
        self.int32(entry[0].port)
        numbered = self.info.version >= DICTIONARY_SINCE
        self.list_of(entry[1], self.numbered_partition if numbered else self.topic_partition)

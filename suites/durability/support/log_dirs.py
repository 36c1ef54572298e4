"""Log directories as a broker describes them, and one of two that fails while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterReplicaLogDirsRequest,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from harness.conformance.checks import Inconclusive
from harness.runner.brokers.persistent_broker import PersistentBroker

DIRECTORIES = "first,second"
NOTED_EVERY_MS = "300"
"""Interval in ms of the high watermark checkpoint (default: 5 s).

By this write a broker notices a missing directory even while no client writes to it.
"""
TWO = {
    "log.dirs": DIRECTORIES,
    "replica.high.watermark.checkpoint.interval.ms": NOTED_EVERY_MS,
}
"""Settings of a persistent broker with two log directories; the second one may fail."""

PARTITIONS = 6
Described = DescribeLogDirsResponse.DescribeLogDirsResult


class DescribedReplica(NamedTuple):
    """A replica in a directory, as the broker describes it."""

    log_dir: str
    size: int
    lag: int
    is_future: bool


def described(
    broker: BrokerUnderTest, topics: Sequence[str] | None = None, version: int | None = None
) -> list[Described]:
    """Its directories, with partition 0 of these topics, or with all partitions."""
    asked = DescribeLogDirsRequest(topics=None)
    if topics is not None:
        asked.topics = [
            DescribeLogDirsRequest.DescribableLogDirTopic(topic=name, partitions=[0])
            for name in topics
        ]
    return broker.ask(asked, version).results


def places_of(found: Sequence[Described], topic: str, partition: int = 0) -> list[DescribedReplica]:
    """Wherever this partition is listed."""
    return [
        DescribedReplica(each.log_dir, part.partition_size, part.offset_lag, part.is_future_key)
        for each in found
        for listed in each.topics
        if listed.name == topic
        for part in listed.partitions
        if part.partition_index == partition
    ]


def move(
    broker: BrokerUnderTest, topic: str, path: str, version: int | None = None, partition: int = 0
) -> int:
    """Ask that a replica be moved to a directory; the error code."""
    listed = AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic(name=topic, partitions=[partition])
    entry = AlterReplicaLogDirsRequest.AlterReplicaLogDir(path=path, topics=[listed])
    answer = broker.ask(AlterReplicaLogDirsRequest(dirs=[entry]), version)
    return only(only(answer.results, "topic").partitions, "partition").error_code


def put_a_file_in_place_of(folder: Path) -> None:
    """Replace the folder with a file: opening a path below it fails, also for root.

    Files that are open stay open.
    """
    folder.rename(folder.with_name(f"{folder.name}-gone"))
    folder.touch()


class HalfFailed:
    """A topic on a broker with two log directories; the second is going to fail.

    ``lost`` and ``left`` are the partitions in the second directory and in the first.
    """

    def __init__(self, kept: PersistentBroker) -> None:
        """Create the topic, with a partition or more in each directory, or raise Inconclusive."""
        kept.client.version("DescribeLogDirs")
        self.kept = kept
        self.topic: Topic = kept.client.create_topic(PARTITIONS)
        self.good, self.failing = kept.folders
        self.lost: list[int] = []
        self.left: list[int] = []
        for partition in range(PARTITIONS):
            inside = kept.partition_folder(self.topic.name, partition).parent == self.failing
            (self.lost if inside else self.left).append(partition)
        if not (self.lost and self.left):
            raise Inconclusive("all partitions of the topic are in one directory")

    def fail(self) -> None:
        """Let the second directory fail."""
        put_a_file_in_place_of(self.failing)

    def code(self, version: int | None = None) -> int:
        """The error code of the second directory."""
        return next(
            each.error_code
            for each in described(self.kept.client, version=version)
            if each.log_dir == str(self.failing)
        )

    def await_failed(self) -> None:
        """Wait until the broker has noticed the failure."""
        self.kept.client.eventually(
            lambda: self.code() == ErrorCode.KAFKA_STORAGE_ERROR,
            f"the broker sees that {self.failing.name} has failed",
        )

"""Requests for unreadable data: the folder goes offline, and the other one is served."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.ids import Offset
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DescribeLogDirsRequest,
    DescribeProducersRequest,
    FetchRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
)
from harness.codec.records import encode_rows
from harness.reference_broker.cluster.broker_node import BrokerNode, Joining
from harness.reference_broker.cluster.controller_node import ControllerNode
from harness.reference_broker.emulated_release import LIKE_NONE
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.cleaning.log_compaction import compaction_round
from harness.reference_broker.state.cleaning.log_retention import retention_round
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.groups.committed_offsets import CommittedOffsets
from harness.reference_broker.state.groups.group_loading import load_groups
from harness.reference_broker.state.groups.groups import Groups
from harness.reference_broker.state.partition.following import append_fetched, truncate
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.topics.cluster import ClusterState
from tests.reference_broker.cluster.test_cluster_of_nodes import CLUSTER_ID, TIMES, Cluster
from tests.reference_broker.storage.test_log_directories import in_two, partition_in
from tests.reference_broker.storage.test_storage import NOW

STORAGE = "harness.reference_broker.storage"
SEGMENT = f"{STORAGE}.stored_segment.StoredSegment"
SEGMENTS = {"internal.segment.bytes": "200", "min.cleanable.dirty.ratio": "0"}


@asynccontextmanager
async def two_folders(folder: Path) -> AsyncIterator[Cluster]:
    """A broker with a partition of topic t in each folder, with records in several segments."""
    controller = ControllerNode(BrokerSettings.of({"node.id": "100", **TIMES}), CLUSTER_ID)
    at = await controller.start()
    settings = BrokerSettings.of({"node.id": "1", "log.dirs": "one,two", **TIMES})
    broker = BrokerNode(settings, Joining(CLUSTER_ID, at, folder=folder))
    cluster = Cluster(controller, {1: broker}, LIKE_NONE)
    try:
        cluster.at = {1: await broker.start()}
        configs = [
            CreateTopicsRequest.CreatableTopicConfig(name=name, value=value)
            for name, value in SEGMENTS.items()
        ]
        topic = CreateTopicsRequest.CreatableTopic(
            name="t", num_partitions=2, replication_factor=1, configs=configs
        )
        await cluster.ask(1, CreateTopicsRequest(topics=[topic], timeout_ms=20_000), 7)
        for index in (0, 1) * 5:
            assert (await cluster.produce(index, "v"))[0] == ErrorCode.NONE
        yield cluster
    finally:
        await broker.close()
        await controller.stop()


def broken(*_: object, **__: object) -> Any:
    raise OSError(errno.EIO, "broken")


def list_offsets(index: int) -> tuple[Any, int]:
    asked = ListOffsetsRequest.ListOffsetsPartition(partition_index=index, timestamp=NOW)
    topic = ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[asked])
    return ListOffsetsRequest(replica_id=-1, topics=[topic]), 5


def newest(index: int) -> tuple[Any, int]:
    asked = ListOffsetsRequest.ListOffsetsPartition(partition_index=index, timestamp=-3)
    topic = ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[asked])
    return ListOffsetsRequest(replica_id=-1, topics=[topic]), 7


def fetch(index: int, isolation: int = 0) -> tuple[Any, int]:
    asked = FetchRequest.FetchPartition(
        partition=index, fetch_offset=4, partition_max_bytes=1 << 20
    )
    topic = FetchRequest.FetchTopic(topic="t", partitions=[asked])
    request = FetchRequest(
        replica_id=-1, min_bytes=1, max_bytes=1 << 20, isolation_level=isolation, topics=[topic]
    )
    return request, 11


def fetch_decided(index: int) -> tuple[Any, int]:
    return fetch(index, isolation=1)


def delete_records(index: int) -> tuple[Any, int]:
    asked = DeleteRecordsRequest.DeleteRecordsPartition(partition_index=index, offset=3)
    topic = DeleteRecordsRequest.DeleteRecordsTopic(name="t", partitions=[asked])
    return DeleteRecordsRequest(topics=[topic], timeout_ms=20_000), 2


def end_of_epoch(index: int) -> tuple[Any, int]:
    asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
        partition=index, current_leader_epoch=-1, leader_epoch=0
    )
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="t", partitions=[asked])
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]), 4


def producers(index: int) -> tuple[Any, int]:
    topic = DescribeProducersRequest.TopicRequest(name="t", partition_indexes=[index])
    return DescribeProducersRequest(topics=[topic]), 0


def error_of(answer: Any) -> int:
    topics = answer.responses if hasattr(answer, "responses") else answer.topics
    error: int = topics[0].partitions[0].error_code
    return error


READERS = {
    "list offsets": (f"{SEGMENT}.batches_reaching", list_offsets),
    "fetch": (f"{SEGMENT}._read", fetch),
    "aborted transactions": (f"{STORAGE}.stored_log.read_aborted", fetch_decided),
    "the newest record": (f"{SEGMENT}.newest_batch", newest),
}


@pytest.mark.parametrize("reader", READERS)
def test_read_error_returns_storage_error_and_other_directory_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    breaks, request = READERS[reader]

    async def scenario() -> None:
        async with two_folders(tmp_path) as cluster:
            assert error_of(await cluster.ask(1, *request(1))) == ErrorCode.NONE
            with monkeypatch.context() as patched:
                patched.setattr(breaks, broken)
                answer = await cluster.ask(1, *request(0))
            assert error_of(answer) == ErrorCode.KAFKA_STORAGE_ERROR
            for later in (list_offsets, fetch, delete_records, end_of_epoch, producers):
                told = [error_of(await cluster.ask(1, *later(index))) for index in (0, 1)]
                assert told == [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE], later
            described = await cluster.ask(1, DescribeLogDirsRequest(topics=None), 4)
            errors = sorted(one.error_code for one in described.results)
            assert errors == [ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR]
            # It has no leader any more once the controller knows.
            assert (await cluster.produce(0, "v", at=1))[0] == ErrorCode.KAFKA_STORAGE_ERROR
            assert (await cluster.produce(1, "v"))[0] == ErrorCode.NONE

    asyncio.run(scenario())


def only(partition: Partition) -> ClusterState:
    """A cluster state with this partition alone."""
    return cast("ClusterState", SimpleNamespace(partitions=lambda: [partition]))


def follow(partition: Partition) -> None:
    records = partition.log.read(Offset(0), 1, at_least_one=True)
    beyond = (5).to_bytes(8, "big") + records[8:]
    assert append_fetched(partition, beyond, 5, 0, NOW) == []


def shorten(partition: Partition) -> None:
    with pytest.raises(OSError, match="broken"):
        truncate(partition, Offset(2))


def expire(partition: Partition) -> None:
    assert list(retention_round(only(partition), NOW)) == [None]


def compact(partition: Partition) -> None:
    list(compaction_round(only(partition), NOW))


def load(partition: Partition) -> None:
    load_groups(cast("Groups", None), cast("CommittedOffsets", None), partition, NOW)


WORKS: dict[str, tuple[str, str, Callable[[Partition], None]]] = {
    "following": ("delete", f"{STORAGE}.stored_segment.write_all", follow),
    "truncation": ("delete", f"{STORAGE}.stored_segment.os.ftruncate", shorten),
    "retention": ("delete", f"{SEGMENT}.rename", expire),
    "retention of a compacted log": ("compact,delete", f"{SEGMENT}.rename", compact),
    "compaction": ("compact", f"{SEGMENT}._read", compact),
    "loading of groups": ("compact", f"{SEGMENT}._read", load),
}


@pytest.mark.parametrize("work", WORKS)
def test_io_error_of_background_work_takes_directory_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    policy, breaks, do = WORKS[work]
    files = in_two(tmp_path)
    partition_in(files.logs, "another")
    partition = partition_in(files.logs, "t")
    partition.config = TopicConfig.of(
        {**SEGMENTS, "cleanup.policy": policy, "retention.bytes": "0"}, {}
    )
    for _ in range(5):
        partition.append(encode_rows([(NOW, b"k", bytes(50))]), NOW)
    with monkeypatch.context() as patched:
        patched.setattr(breaks, broken)
        do(partition)
    assert [one.is_online for one in files.logs.directories()] == [True, False]
    assert partition.log.is_offline
    assert files.logs.lost is None
    files.close()


@pytest.mark.parametrize(
    ("magic", "codec_bits", "error"),
    [
        (0x82, 3, ErrorCode.INVALID_RECORD),
        (0x82, 5, ErrorCode.UNKNOWN_SERVER_ERROR),
        (0, 4, ErrorCode.INVALID_RECORD),
        (0, 7, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_fetch_of_batch_with_flipped_magic_returns_record_error(
    tmp_path: Path, magic: int, codec_bits: int, error: ErrorCode
) -> None:
    async def scenario() -> None:
        async with two_folders(tmp_path) as cluster:
            newest_file = max(tmp_path.glob("*/t-0/*.log"))
            written = bytearray(newest_file.read_bytes())
            written[16:18] = magic, codec_bits
            newest_file.write_bytes(written)
            told = [error_of(await cluster.ask(1, *fetch(index))) for index in (0, 1)]
            assert told == [error, ErrorCode.NONE]

    asyncio.run(scenario())

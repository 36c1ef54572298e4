"""AlterReplicaLogDirs and DescribeLogDirs, as clients use them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterReplicaLogDirsRequest,
    DescribeLogDirsRequest,
    IncrementalAlterConfigsRequest,
)
from harness.targets.process import Deadline
from tests.reference_broker.cluster.test_combined_node import (
    IN_TIME_MS,
    ask,
    bytes_of,
    create,
    node,
    produce,
)
from tests.reference_broker.running import create_topic, running_broker

BROKER, SET, DELETE = 4, 0, 1
BIG = b"x" * 500_000
TWO = ("--setting", "log.dirs=one,two")
SESSION_MS = 3_000
"""A killed broker may register again when its session is over."""


def move(port: int, *wishes: tuple[str, str, int]) -> dict[tuple[str, int], int]:
    """Request moves to a path, of a topic, a partition; return the errors."""
    request = AlterReplicaLogDirsRequest
    entries = [
        request.AlterReplicaLogDir(
            path=path, topics=[request.AlterReplicaLogDirTopic(name=name, partitions=[index])]
        )
        for path, name, index in wishes
    ]
    answer = ask(port, request(dirs=entries), 2)
    return {
        (topic.topic_name, one.partition_index): one.error_code
        for topic in answer.results
        for one in topic.partitions
    }


def places(port: int) -> dict[str, tuple[bool, bool]]:
    """By the folder's name: (is_future_key, True if the replica there lags)."""
    answer = ask(port, DescribeLogDirsRequest(topics=None), 4)
    return {
        Path(each.log_dir).name: (one.is_future_key, one.offset_lag > 0)
        for each in answer.results
        for topic in each.topics
        if topic.name == "t"
        for one in topic.partitions
    }


def limit(port: int, bytes_per_s: str | None) -> None:
    request = IncrementalAlterConfigsRequest
    config = request.AlterableConfig(
        name="replica.alter.log.dirs.io.max.bytes.per.second",
        config_operation=DELETE if bytes_per_s is None else SET,
        value=bytes_per_s,
    )
    resource = request.AlterConfigsResource(
        resource_type=BROKER, resource_name="1", configs=[config]
    )
    (told,) = ask(port, request(resources=[resource]), 1).responses
    assert told.error_code == ErrorCode.NONE


def await_that(is_so: Callable[[], Any]) -> None:
    deadline = Deadline(IN_TIME_MS)
    while not is_so():
        assert deadline.left_ms() > 0
        time.sleep(0.02)


@pytest.mark.rotates(8)
def test_throttled_replica_move_resumes_after_kill_and_restart(tmp_path: Path) -> None:
    with node(tmp_path, 1, "--controller-port", "0", *TWO) as (child, port, _):
        assert create(port, [1]) == ErrorCode.NONE
        for offset in range(8):
            assert produce(port, BIG) == (ErrorCode.NONE, offset)
        limit(port, "1000")
        (begun,) = places(port)
        (other,) = {"one", "two"} - {begun}
        path = str(tmp_path / "1" / other)
        assert move(port, (path, "t", 0)) == {("t", 0): ErrorCode.NONE}
        await_that(lambda: places(port) == {begun: (False, False), other: (True, True)})
        before = bytes_of(port)
        child.kill()
    with node(tmp_path, 1, "--controller-port", "0", *TWO, session_ms=SESSION_MS) as (_, port, _):
        assert places(port) == {begun: (False, False), other: (True, True)}
        limit(port, None)
        await_that(lambda: places(port) == {other: (False, False)})
        assert bytes_of(port) == before
        assert produce(port, b"more") == (ErrorCode.NONE, 8)


@pytest.mark.rotates(8)
def test_alter_replica_log_dirs_applies_last_of_repeated_partition_entries(tmp_path: Path) -> None:
    with node(tmp_path, 1, "--controller-port", "0", *TWO) as (_, port, _):
        one, two, none = (str(tmp_path / "1" / name) for name in ("one", "two", "three"))
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert move(port, (one, "t", 0), (two, "t", 0), (none, "u", 2), (one, "u", 1)) == {
            ("t", 0): unknown,
            ("u", 1): unknown,
            ("u", 2): ErrorCode.LOG_DIR_NOT_FOUND,
        }
        assert create(port, [1]) == ErrorCode.NONE
        assert places(port) == {"two": (False, False)}


def test_replica_move_of_in_memory_log_completes_immediately() -> None:
    with running_broker({"log.dirs": "/a,/b"}) as address:
        (_, port), unknown = address, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert move(port, ("/b", "t", 0), ("/c", "u", 0)) == {
            ("t", 0): unknown,
            ("u", 0): ErrorCode.LOG_DIR_NOT_FOUND,
        }
        create_topic(address, "t")
        assert places(port) == {"b": (False, False)}
        assert move(port, ("/a", "t", 0)) == {("t", 0): ErrorCode.NONE}
        assert places(port) == {"a": (False, False)}

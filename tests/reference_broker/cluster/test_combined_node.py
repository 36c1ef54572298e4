"""A node that is controller and broker in one, as a process, and another that joins it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    FetchRequest,
    MetadataRequest,
    ProduceRequest,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.command import broker
from harness.targets.process import ChildProcess, Deadline
from labs.awaiting import await_that

BROKER = [sys.executable, "-m", "harness.cli", "broker", "--port", "0", "--cluster-id", "one-node"]
IN_TIME_MS = 60_000  # of a machine that does much else; no test waits for its end
HEARTBEATS = ("--setting", "broker.heartbeat.interval.ms=300")


@contextmanager
def node(
    folder: Path, number: int, *words: str, session_ms: int = IN_TIME_MS
) -> Iterator[tuple[ChildProcess, int, int]]:
    """A process; its address for clients, and its controller if it has one.

    ``session_ms``: session timeout of its controller for a killed broker.
    """
    log = folder / f"{number}.log"
    log.write_text("")
    session = ("--setting", f"broker.session.timeout.ms={session_ms}")
    command = [*BROKER, "--setting", f"node.id={number}", *session, *HEARTBEATS, *words]
    child = ChildProcess([*command, "--data-dir", str(folder / f"{number}")], log)
    try:
        client = _announced(child, r"^listening on \S+:(\d+)$")
        controller = re.search(
            r"controller of cluster \S+ at \S+:(\d+)$", child.log_text(), re.MULTILINE
        )
        yield child, client, int(controller[1]) if controller else 0
        child.terminate(IN_TIME_MS)
    finally:
        child.kill()


def _announced(child: ChildProcess, line: str) -> int:
    deadline = Deadline(IN_TIME_MS)
    while (found := re.search(line, child.log_text(), re.MULTILINE)) is None:
        assert child.is_alive(), child.log_text()
        assert deadline.left_ms() > 0, child.log_text()
        child.wait(20)
    return int(found[1])


def ask(port: int, request: Any, version: int) -> Any:
    with Connection(("127.0.0.1", port), timeout_ms=2 * IN_TIME_MS) as connection:
        return connection.ask(request, version)


def brokers_of(port: int) -> list[int]:
    return sorted(each.node_id for each in ask(port, MetadataRequest(topics=[]), 12).brokers)


def create(port: int, replicas: list[int]) -> int:
    assignment = CreateTopicsRequest.CreatableReplicaAssignment(broker_ids=replicas)
    topic = CreateTopicsRequest.CreatableTopic(
        name="t", num_partitions=-1, replication_factor=-1, assignments=[assignment]
    )
    answer = ask(port, CreateTopicsRequest(topics=[topic], timeout_ms=IN_TIME_MS), 7)
    error: int = answer.topics[0].error_code
    return error


def produce(port: int, value: bytes) -> tuple[int, int]:
    """Produce with acks=all and return the error and the offset."""
    part = ProduceRequest.PartitionProduceData(records=encode_batch(RecordBatch([Record(value)])))
    topic = ProduceRequest.TopicProduceData(name="t", partition_data=[part])
    answer = ask(port, ProduceRequest(acks=-1, timeout_ms=IN_TIME_MS, topic_data=[topic]), 9)
    told = answer.responses[0].partition_responses[0]
    return told.error_code, told.base_offset


def bytes_of(port: int) -> bytes:
    wanted = FetchRequest.FetchPartition(partition_max_bytes=1 << 20)
    topic = FetchRequest.FetchTopic(topic="t", partitions=[wanted])
    answer = ask(port, FetchRequest(max_bytes=1 << 20, topics=[topic]), 11)
    return bytes(answer.responses[0].partitions[0].records or b"")


@pytest.mark.rotates(8)
def test_second_broker_joins_combined_node_and_replicates(tmp_path: Path) -> None:
    with node(tmp_path, 1, "--controller-port", "0") as (_, first, controller):
        joining = ("--join", f"127.0.0.1:{controller}")
        with node(tmp_path, 2, *joining) as (_, second, _at):
            await_that(lambda: brokers_of(second) == [1, 2], "both are registered")
            assert create(second, [1, 2]) == ErrorCode.NONE
            assert produce(first, b"replicated") == (ErrorCode.NONE, 0)
        assert produce(first, b"alone") == (ErrorCode.NONE, 1)


@pytest.mark.rotates(8)
def test_combined_node_keeps_records_across_restart(tmp_path: Path) -> None:
    with node(tmp_path, 1, "--controller-port", "0") as (_, port, _controller):
        assert create(port, [1]) == ErrorCode.NONE
        assert produce(port, b"kept") == (ErrorCode.NONE, 0)
    with node(tmp_path, 1, "--controller-port", "0") as (_, port, _controller):
        assert b"kept" in bytes_of(port)
        assert produce(port, b"more") == (ErrorCode.NONE, 1)


@pytest.mark.parametrize("other", [["--nodes", "3"], ["--controller"], ["--join", "h:1"]])
def test_broker_command_refuses_controller_port_with_other_node_kind(other: list[str]) -> None:
    said = CliRunner().invoke(broker, ["--controller-port", "0", *other])
    assert said.exit_code == 2
    assert "exclude each other: give one" in said.output

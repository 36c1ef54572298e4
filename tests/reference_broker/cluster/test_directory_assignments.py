"""A broker's reports to the controller about the directories of its replicas, and repeated ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from harness.base.ids import BrokerId, PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from harness.reference_broker.cluster.directory_assignments import DirectoryAssignments
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import PeerGone
from harness.reference_broker.state.registrations.brokers import Endpoint
from tests.reference_broker.cluster.test_cluster_of_nodes import until
from tests.reference_broker.moving import TOPIC, Moving, moving
from tests.reference_broker.storage.test_log_directories import put_a_file_in_place_of

ZERO = PartitionIndex(0)
_Request = AssignReplicasToDirsRequest
_Response = AssignReplicasToDirsResponse


class Controller:
    """Give these answers, for the whole request and for each partition, then only good ones."""

    def __init__(self, *answers: tuple[ErrorCode, ErrorCode] | PeerGone) -> None:
        self.asked: list[_Request] = []
        self._answers = list(answers)

    async def ask(self, request: _Request, version: int) -> _Response:
        assert version == 0
        self.asked.append(request)
        answer = self._answers.pop(0) if self._answers else (ErrorCode.NONE, ErrorCode.NONE)
        if isinstance(answer, PeerGone):
            raise answer
        if answer[0] != ErrorCode.NONE:
            return _Response(error_code=answer[0])
        return _Response(directories=[_answered(one, answer[1]) for one in request.directories])

    def told(self) -> list[dict[UUID, list[int]]]:
        """The partitions by directory, of each request."""
        return [
            {
                directory.id: [
                    one.partition_index for topic in directory.topics for one in topic.partitions
                ]
                for directory in request.directories
            }
            for request in self.asked
        ]


def _answered(directory: _Request.DirectoryData, error: ErrorCode) -> _Response.DirectoryData:
    return _Response.DirectoryData(
        id=directory.id,
        topics=[
            _Response.TopicData(
                topic_id=topic.topic_id,
                partitions=[
                    _Response.PartitionData(partition_index=one.partition_index, error_code=error)
                    for one in topic.partitions
                ],
            )
            for topic in directory.topics
        ],
    )


def assignments(broker: Moving, controller: Controller) -> DirectoryAssignments:
    member = NodeMembership(BrokerId(1), "c", Endpoint("c", 1), {}, broker.files.directory_ids)
    node = SimpleNamespace(state=broker.state)
    return DirectoryAssignments(cast("Any", node), member, cast("Any", controller))


async def at_work(made: DirectoryAssignments, is_done: Callable[[], bool]) -> None:
    """Run until the condition is true, and some rounds more, in which no report may follow."""
    task = asyncio.get_running_loop().create_task(made.run())
    await until(is_done)
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def looked_at(broker: Moving, controller: Controller, count: int) -> list[dict[UUID, list[int]]]:
    """The reports about the only replica until so many requests have come."""

    async def scenario() -> None:
        made = assignments(broker, controller)
        made.look_at(TOPIC, ZERO)
        await at_work(made, lambda: len(controller.asked) >= count)

    asyncio.run(scenario())
    return controller.told()


@pytest.mark.parametrize("fails", [False, True])
def test_differing_replica_directory_is_reported_once(tmp_path: Path, fails: bool) -> None:
    """Even about a folder that has failed meanwhile: else the controller would not learn of it."""
    with moving(tmp_path) as broker:
        broker.files.logs.prefer(("t", 0), str(tmp_path / "second"))
        broker.replica()
        if fails:
            put_a_file_in_place_of(tmp_path / "second")
            broker.files.logs.checkpoint()
        second = broker.files.directory_ids[1]
        assert looked_at(broker, Controller(), 1) == [{second: [0]}]


@pytest.mark.parametrize(
    "answer",
    [
        PeerGone("away"),
        (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.NONE),
        (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_ID),
    ],
    ids=["away", "refused", "refused of the partition"],
)
def test_unaccepted_directory_report_is_sent_again(
    tmp_path: Path, answer: tuple[ErrorCode, ErrorCode] | PeerGone
) -> None:
    with moving(tmp_path) as broker:
        broker.replica()
        first = broker.files.directory_ids[0]
        assert looked_at(broker, Controller(answer), 2) == [{first: [0]}] * 2


def test_known_replica_directory_is_not_reported(tmp_path: Path) -> None:
    """Not even if a report about another directory was due before."""

    async def scenario() -> None:
        with moving(tmp_path) as broker:
            first, second, _ = broker.files.directory_ids
            broker.believed_in = first
            broker.replica()
            controller = Controller()
            made = assignments(broker, controller)
            made.tell(TOPIC, ZERO, second)
            made.look_at(TOPIC, ZERO)
            await at_work(made, lambda: True)
            assert controller.asked == []

    asyncio.run(scenario())


def test_directory_of_removed_replica_is_not_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        with moving(tmp_path) as broker:
            controller = Controller()
            made = assignments(broker, controller)
            made.tell(TOPIC, ZERO, broker.files.directory_ids[0])
            await at_work(made, lambda: True)
            assert controller.asked == []

    asyncio.run(scenario())

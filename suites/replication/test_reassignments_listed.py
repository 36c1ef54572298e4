"""REASG: the moves that are listed, and the number of replicas that a move must keep (KIP-860)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from suites.replication.support.expect import expect_error

TIMEOUT_MS = 10_000
ABSENT_PARTITION = 7
ABSENT_BROKER = 1_000_000
Places = set[tuple[str, int]]


class Moving(NamedTuple):
    """What is listed of a partition that moves."""

    replicas: frozenset[int]
    adding: frozenset[int]
    removing: frozenset[int]


def _move(
    broker: BrokerUnderTest, topic: str, targets: Mapping[int, Sequence[int] | None]
) -> dict[int, int]:
    """Request a move of these partitions, None to cancel one; return the error code of each."""
    return _moved(broker, topic, targets, None, allow_replication_factor_change=True)


def _moved(
    broker: BrokerUnderTest,
    topic: str,
    targets: Mapping[int, Sequence[int] | None],
    version: int | None,
    *,
    allow_replication_factor_change: bool,
) -> dict[int, int]:
    request = AlterPartitionReassignmentsRequest
    wanted = [
        request.ReassignablePartition(
            partition_index=index, replicas=None if replicas is None else list(replicas)
        )
        for index, replicas in targets.items()
    ]
    entry = request.ReassignableTopic(name=topic, partitions=wanted)
    message = request(timeout_ms=TIMEOUT_MS, topics=[entry])
    message.allow_replication_factor_change = allow_replication_factor_change
    answer = broker.ask(message, version)
    expect_error(answer.error_code, ErrorCode.NONE, "the answer as a whole")
    told = only(answer.responses, "topic").partitions
    return {each.partition_index: each.error_code for each in told}


def _listed(
    broker: BrokerUnderTest, wanted: Mapping[str, Sequence[int]] | None
) -> dict[tuple[str, int], Moving]:
    """Return the listed partitions; None requests all."""
    request = ListPartitionReassignmentsRequest
    topics = None
    if wanted is not None:
        topics = [
            request.ListPartitionReassignmentsTopics(name=name, partition_indexes=list(indexes))
            for name, indexes in wanted.items()
        ]
    answer = broker.ask(request(timeout_ms=TIMEOUT_MS, topics=topics))
    expect_error(answer.error_code, ErrorCode.NONE, "ListPartitionReassignments")
    return {
        (topic.name, each.partition_index): Moving(
            frozenset(each.replicas),
            frozenset(each.adding_replicas),
            frozenset(each.removing_replicas),
        )
        for topic in answer.topics
        for each in topic.partitions
    }


@judges("REASG-010")
@needs_broker(Use.JOINABLE)
def test_list_partition_reassignments_returns_requested_partitions_that_move(
    peers: JoinedCluster,
) -> None:
    """Partitions 0 and 2 of a topic move and 1 does not; another topic moves too."""
    broker, old, new = peers.broker, peers.join().broker_id, peers.join().broker_id
    many, one = broker.unique_topic(), broker.unique_topic()
    for name, count in ((many, 3), (one, 1)):
        peers.world.create_topic(name, [[peers.leader, old]] * count, {})
    target = [peers.leader, new]
    codes = _move(broker, many, {0: target, 2: target}) | _move(broker, one, {0: target})
    moving = Moving(frozenset((*target, old)), frozenset((new,)), frozenset((old,)))
    with requirement("REASG-010"):
        assert codes == {0: ErrorCode.NONE, 2: ErrorCode.NONE}, f"the moves are answered {codes}"
        cases: tuple[tuple[dict[str, list[int]] | None, Places], ...] = (
            ({many: [0, 1, 2]}, {(many, 0), (many, 2)}),
            ({many: [2]}, {(many, 2)}),
            ({many: [1, ABSENT_PARTITION], broker.unique_topic(): [0]}, set()),
            ({many: [0], one: [0]}, {(many, 0), (one, 0)}),
            (None, {(many, 0), (many, 2), (one, 0)}),
        )
        for wanted, expected in cases:
            found = _listed(broker, wanted)
            ours = {place: each for place, each in found.items() if place[0] in (many, one)}
            told = f"requested {wanted}: listed are {ours}"
            assert ours == dict.fromkeys(expected, moving), f"{told}, expected {expected}"


@judges("REASG-006")
@needs_broker(Use.JOINABLE)
def test_bad_targets_leave_other_partitions_of_request_to_move(peers: JoinedCluster) -> None:
    """One request for six partitions: the first and the last have good targets."""
    broker, leader = peers.broker, peers.leader
    old, new = peers.join().broker_id, peers.join().broker_id
    name = broker.unique_topic()
    peers.world.create_topic(name, [[leader, old]] * 6, {})
    good, bad = ErrorCode.NONE, ErrorCode.INVALID_REPLICA_ASSIGNMENT
    targets = [[leader, new], [], [new, new], [leader, ABSENT_BROKER], [leader, -2], [leader, new]]
    expected = dict(enumerate([good, bad, bad, bad, bad, good]))
    with requirement("REASG-006"):
        expected[ABSENT_PARTITION] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        codes = _move(broker, name, dict(enumerate(targets)) | {ABSENT_PARTITION: [leader]})
        assert codes == expected, f"the errors are {codes}, expected {expected}"
        found = {index for _, index in _listed(broker, {name: list(range(6))})}
        assert found == {0, 5}, f"the partitions {found} move, expected 0 and 5"


@judges("REASG-005")
@needs_broker(Use.JOINABLE)
def test_cancelled_reassignment_of_one_partition_leaves_others_of_topic_moving(
    peers: JoinedCluster,
) -> None:
    """All three partitions move when the second one is cancelled."""
    broker, leader = peers.broker, peers.leader
    old, new = peers.join().broker_id, peers.join().broker_id
    name = broker.unique_topic()
    peers.world.create_topic(name, [[leader, old]] * 3, {})
    begun = _move(broker, name, {index: [leader, new] for index in range(3)})
    if any(begun.values()):
        raise PreparationFailed(f"the moves are refused: {begun}")
    with requirement("REASG-005"):
        codes = _move(broker, name, {1: None})
        assert codes == {1: ErrorCode.NONE}, f"the cancellation is answered {codes}"
        found = {index for _, index in _listed(broker, {name: list(range(3))})}
        assert found == {0, 2}, f"the partitions {found} move, expected 0 and 2"


@judges("REASG-011")
@needs_broker(Use.JOINABLE)
@at_versions("AlterPartitionReassignments", "1+")
def test_reassignment_that_must_keep_replication_factor_refuses_another_number(
    peers: JoinedCluster, api_version: int
) -> None:
    """Two replicas; while one of them moves there are three, and two still have to be wanted."""
    broker, leader = peers.broker, peers.leader
    one, two, three = (peers.join().broker_id for _ in range(3))
    name = broker.unique_topic()
    peers.world.create_topic(name, [[leader, one]], {})
    wrong, right = ErrorCode.INVALID_REPLICATION_FACTOR, ErrorCode.NONE
    with requirement("REASG-011"):
        for target, code in (
            ([leader], wrong),
            ([leader, one, two], wrong),
            ([leader, two], right),
            ([leader, one, two], wrong),
            ([leader, three], right),
        ):
            before = _listed(broker, {name: [0]})
            codes = _moved(
                broker, name, {0: target}, api_version, allow_replication_factor_change=False
            )
            when = f"to {target}, in progress is {before}"
            expect_error(codes[0], code, when)
            is_same = _listed(broker, {name: [0]}) == before
            assert is_same == (code == wrong), f"{when}: the list has changed: {not is_same}"
        codes = _moved(
            broker, name, {0: [leader]}, api_version, allow_replication_factor_change=True
        )
        expect_error(codes[0], ErrorCode.NONE, "another number is allowed")

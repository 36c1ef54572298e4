"""ALTP: which ISRs a controller takes from a leader; the leader is a virtual broker.

All replicas are virtual brokers: nothing is replicated, and nothing else proposes anything.
"""

from __future__ import annotations

import uuid
from typing import TypeGuard

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised, PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionResponse,
    UnregisterBrokerRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import KraftMember
from harness.virtual_broker.leader import (
    FIRST_WITH_EPOCHS,
    FIRST_WITH_IDS,
    RECOVERED,
    RECOVERING,
    LedPartition,
    partition_of,
)
from suites.replication.support.elections import UNCLEAN, elect
from suites.replication.support.expect import expect_error

UNKNOWN_PARTITION = 7


@pytest.fixture
def led(peers: JoinedCluster) -> LedPartition:
    """A partition with three virtual replicas, all in the ISR."""
    return peers.led_by(peers.joined(), peers.joined(), peers.joined())


def ids(led: LedPartition, *places: int) -> list[int]:
    """Broker ids of the replicas at these places; 0 is the leader's."""
    return [led.replicas[place].broker_id for place in places]


@judges("ALTP-001")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_valid_epochs_commits_new_isr(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """A shrink, then an expansion, which leaves the leader epoch at every release."""
    epoch = led.partition_epoch
    with requirement("ALTP-001"):
        for places in ((0, 1), (0, 1, 2)):
            wanted, leader_epoch = ids(led, *places), led.leader_epoch
            found = led.propose(led.proposal(wanted))
            epoch += 1
            expect_error(found.error_code, ErrorCode.NONE, f"the ISR {wanted}")
            assert sorted(found.isr) == wanted, f"answered is the ISR {found.isr}, not {wanted}"
            told = f"the ISR {wanted}: the partition epoch is {found.partition_epoch}"
            assert found.partition_epoch == epoch, f"{told}, expected {epoch}"
            assert found.leader_id == led.leader.broker_id, f"the leader is {found.leader_id}"
            _await_isr(led, broker, wanted)
        told = f"an expansion answers the leader epoch {found.leader_epoch}"
        assert found.leader_epoch == leader_epoch, f"{told}, expected {leader_epoch}"


def _await_isr(led: LedPartition, broker: BrokerUnderTest, isr: list[int]) -> None:
    broker.eventually(lambda: list(led.state().isr) == isr, f"Metadata shows the ISR {isr}")


@judges("ALTP-002")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_old_epoch_returns_invalid_update_version(led: LedPartition) -> None:
    """The controller refuses the partition epoch before the last change, whatever the ISR is."""
    old = led.partition_epoch
    led.propose(led.proposal(ids(led, 0, 1)))
    with requirement("ALTP-002"):
        _expect_old_epoch(led, old, ids(led, 1, 2), ", an ISR without the leader")
        _expect_old_epoch(led, old, ids(led, 0, 1, 1), ", a member twice")
        _expect_old_epoch(led, old, ids(led, 0, 1, 2), "")
        _expect_unchanged(led, ids(led, 0, 1))


def _expect_old_epoch(led: LedPartition, epoch: int, isr: list[int], what: str) -> None:
    found = led.propose(led.proposal(isr, partition_epoch=epoch)).error_code
    expect_error(found, ErrorCode.INVALID_UPDATE_VERSION, f"a lower partition epoch{what}")


@judges("ALTP-003")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_higher_epoch_or_lower_leader_epoch_is_refused(
    led: LedPartition,
) -> None:
    """Higher ones can only be known from another controller; a lower leader epoch is fenced."""
    led.lose_leader()
    wanted = ids(led, 1, 2)
    epoch, partition_epoch = led.leader_epoch, led.partition_epoch
    proposals = (
        ("a higher leader epoch", epoch + 1, partition_epoch, ErrorCode.NOT_CONTROLLER),
        ("a higher partition epoch", epoch, partition_epoch + 1, ErrorCode.NOT_CONTROLLER),
        ("a lower leader epoch", epoch - 1, partition_epoch, ErrorCode.FENCED_LEADER_EPOCH),
    )
    with requirement("ALTP-003"):
        for what, leader_epoch, of_partition, code in proposals:
            proposal = led.proposal(
                wanted[:1], leader_epoch=leader_epoch, partition_epoch=of_partition
            )
            expect_error(led.propose(proposal).error_code, code, what)
        former = led.proposal(ids(led, 0, 1), leader_epoch=epoch - 1, sender=led.replicas[0])
        found = led.propose(former).error_code
        expect_error(found, ErrorCode.FENCED_LEADER_EPOCH, "the former leader's epoch")
        _expect_unchanged(led, wanted)


@judges("ALTP-004")
@needs_broker(Use.JOINABLE)
def test_alter_partition_from_other_broker_than_leader_returns_invalid_request(
    led: LedPartition, peers: JoinedCluster
) -> None:
    """A replica of the ISR that does not lead, and a broker without a replica."""
    senders = {"a follower": led.replicas[1], "a stranger": peers.joined()}
    with requirement("ALTP-004") as check:
        for role, sender in senders.items():
            with check.subtest(role):
                found = led.propose(led.proposal(ids(led, 0, 1), sender=sender))
                expect_error(found.error_code, ErrorCode.INVALID_REQUEST, f"proposed by {role}")
        _expect_unchanged(led, ids(led, 0, 1, 2))


@judges("ALTP-005")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_invalid_isr_members_returns_invalid_request(
    led: LedPartition, peers: JoinedCluster
) -> None:
    """A member that is no replica, one member twice, no leader, no members at all."""
    stranger = peers.joined().broker_id
    wrong = {
        "with a stranger": [*ids(led, 0, 1), stranger],
        "with a member twice": ids(led, 0, 1, 1),
        "without the leader": ids(led, 1, 2),
        "without members": [],
    }
    with requirement("ALTP-005") as check:
        for what, isr in wrong.items():
            with check.subtest(what):
                found = led.propose(led.proposal(isr))
                expect_error(found.error_code, ErrorCode.INVALID_REQUEST, f"an ISR {what}")
        _expect_unchanged(led, ids(led, 0, 1, 2))


@judges("ALTP-006")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_fenced_or_stale_epoch_member_is_refused(led: LedPartition) -> None:
    """A replica that is fenced, and one that is named with another broker epoch."""
    ineligible = _ineligible(led)
    led.propose(led.proposal(ids(led, 0, 1)))
    led.replicas[2].leave()
    everybody = ids(led, 0, 1, 2)
    with requirement("ALTP-006"):
        found = led.propose(led.proposal(everybody))
        expect_error(found.error_code, ineligible, "with a fenced replica")
        led.replicas[2].come_back()
        if led.version >= FIRST_WITH_EPOCHS:
            last = led.replicas[2]
            for what, change in (("an old", -1), ("a later", 1)):
                wrong = {last.broker_id: last.broker_epoch + change}
                found = led.propose(led.proposal(everybody, broker_epochs=wrong))
                expect_error(found.error_code, ineligible, f"with {what} broker epoch")
        found = led.propose(led.proposal(everybody))
        expect_error(found.error_code, ErrorCode.NONE, "with the replica unfenced")


@judges("ALTP-006")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_shutting_down_member_is_refused(
    led: LedPartition, peers: JoinedCluster
) -> None:
    """A replica whose shutdown has begun and is not granted, as it led another partition."""
    stopping = led.replicas[2]
    peers.led_by(stopping, led.leader)
    led.propose(led.proposal(ids(led, 0)))
    if stopping.heartbeat(want_shut_down=True).should_shut_down:
        raise PreparationFailed("the shutdown is granted before a proposal names the broker")
    with requirement("ALTP-006"):
        found = led.propose(led.proposal(ids(led, 0, 2)))
        expect_error(found.error_code, _ineligible(led), "with a replica that shuts down")
        found = led.propose(led.proposal(ids(led, 0, 1)))
        expect_error(found.error_code, ErrorCode.NONE, "with the other replica")


@judges("ALTP-006")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_unregistered_member_is_refused(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """A replica whose broker was fenced and unregistered."""
    gone = led.replicas[2]
    led.propose(led.proposal(ids(led, 0)))
    gone.leave()
    code = broker.ask(UnregisterBrokerRequest(broker_id=gone.broker_id)).error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"UnregisterBroker: {ErrorCode.describe(code)}", code)
    with requirement("ALTP-006"):
        found = led.propose(led.proposal(ids(led, 0, 2)))
        expect_error(found.error_code, _ineligible(led), "with an unregistered replica")
        found = led.propose(led.proposal(ids(led, 0, 1)))
        expect_error(found.error_code, ErrorCode.NONE, "with the other replica")


def _ineligible(led: LedPartition) -> ErrorCode:
    has_own_error = led.version >= FIRST_WITH_IDS
    return ErrorCode.INELIGIBLE_REPLICA if has_own_error else ErrorCode.OPERATION_NOT_ATTEMPTED


@judges("ALTP-007")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_member_broker_epoch_minus_1_skips_epoch_check(
    led: LedPartition,
) -> None:
    """Of all members."""
    if led.version < FIRST_WITH_EPOCHS:
        raise ApiNotAdvertised(f"AlterPartition v{led.version} has no broker epochs of members")
    led.propose(led.proposal(ids(led, 0, 1)))
    everybody = ids(led, 0, 1, 2)
    with requirement("ALTP-007"):
        nothing = dict.fromkeys(everybody, -1)
        found = led.propose(led.proposal(everybody, broker_epochs=nothing))
        expect_error(found.error_code, ErrorCode.NONE, "broker epochs of -1")
        assert sorted(found.isr) == everybody, f"answered is the ISR {found.isr}"


@judges("ALTP-008")
@needs_broker(Use.JOINABLE)
def test_alter_partition_while_recovering_refuses_isr_larger_than_one(
    broker: BrokerUnderTest, peers: JoinedCluster
) -> None:
    """The leader was no member of the ISR: it is recovering, and alone until it says otherwise."""
    led = peers.led_by(peers.joined(), peers.joined())
    first, second = led.replicas
    if led.version < 1:
        raise ApiNotAdvertised("AlterIsr v0 does not know of recovery")
    second.leave()
    first.leave()
    second.come_back()
    peers.kraft_world.await_shown(second.broker_id)
    elect(broker, led.topic, UNCLEAN)
    _await_leader(led, second)
    first.come_back()
    both, alone = ids(led, 1, 0), ids(led, 1)
    clean = peers.led_by(first, second)
    with requirement("ALTP-008"):
        found = clean.propose(clean.proposal([first.broker_id], recovery=RECOVERING))
        expect_error(found.error_code, ErrorCode.INVALID_REQUEST, "recovering after no election")
        found = _propose_at_any_epoch(led, alone)
        told = f"the recovery state is {found.leader_recovery_state}, expected {RECOVERING}"
        assert found.leader_recovery_state == RECOVERING, told
        found = led.propose(led.proposal(both, recovery=RECOVERING))
        expect_error(found.error_code, ErrorCode.INVALID_REQUEST, "two members while recovering")
        found = led.propose(led.proposal(alone, recovery=RECOVERED))
        expect_error(found.error_code, ErrorCode.NONE, "recovered")
        found = led.propose(led.proposal(both, recovery=RECOVERED))
        expect_error(found.error_code, ErrorCode.NONE, "two members when recovered")


def _await_leader(led: LedPartition, member: KraftMember) -> None:
    state = led.controller.broker.eventually(
        lambda: found if (found := led.state()).leader == member.broker_id else None,
        f"{led.topic.name} is led by {member.broker_id}",
    )
    led.leader, led.leader_epoch = member, state.leader_epoch


def _propose_at_any_epoch(
    led: LedPartition, isr: list[int]
) -> AlterPartitionResponse.PartitionData:
    """The ISR as it is, with the first partition epoch that is not too low."""
    for epoch in range(led.partition_epoch, led.partition_epoch + 10):
        found = led.propose(led.proposal(isr, partition_epoch=epoch, recovery=RECOVERING))
        if found.error_code != ErrorCode.INVALID_UPDATE_VERSION:
            break
    expect_error(found.error_code, ErrorCode.NONE, "the ISR as it is, recovering")
    return found


@judges("ALTP-009")
@needs_broker(Use.JOINABLE)
def test_alter_partition_of_unknown_topic_or_partition_returns_error(led: LedPartition) -> None:
    """Of topics by id and by name, as the version has them."""
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    no_topic = ErrorCode.UNKNOWN_TOPIC_ID if led.version >= FIRST_WITH_IDS else unknown
    proposal = led.proposal(ids(led, 0, 1))
    elsewhere = led.proposal(ids(led, 0, 1))
    led.name_topic(elsewhere.topics[0], f"{led.topic.name}-no", uuid.uuid4())
    proposal.topics[0].partitions[0].partition_index = UNKNOWN_PARTITION
    with requirement("ALTP-009"):
        expect_error(led.propose(elsewhere).error_code, no_topic, "an unknown topic")
        expect_error(led.propose(proposal).error_code, unknown, "an unknown partition")
        _expect_unchanged(led, ids(led, 0, 1, 2))


@judges("ALTP-010")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_wrong_sender_epoch_returns_stale_broker_epoch(
    led: LedPartition,
) -> None:
    """The whole request is refused, with the epoch before and with a later one."""
    with requirement("ALTP-010") as check:
        for change in (-1, 1):
            where = f"broker epoch {change:+d}, the whole answer"
            with check.subtest(where):
                request = led.proposal(ids(led, 0, 1))
                request.broker_epoch += change
                answer = led.controller.ask(request)
                expect_error(answer.error_code, ErrorCode.STALE_BROKER_EPOCH, where)
                assert not answer.topics, f"{where} tells of {len(answer.topics)} topics"
        _expect_unchanged(led, ids(led, 0, 1, 2))


@judges("ALTP-011")
@needs_broker(Use.JOINABLE)
def test_alter_partition_completing_reassignment_elects_new_leader(
    led: LedPartition, broker: BrokerUnderTest, peers: JoinedCluster
) -> None:
    """The replicas are to be the second and a new one, which the leader takes into the ISR."""
    newcomer = peers.joined()
    led.replicas = (*led.replicas, newcomer)
    _reassign(broker, led, ids(led, 1, 3))
    elected = ErrorCode.FENCED_LEADER_EPOCH
    if led.version >= FIRST_WITH_IDS:
        elected = ErrorCode.NEW_LEADER_ELECTED
    with requirement("ALTP-011"):
        epoch = led.partition_epoch + 1  # that of the beginning of the reassignment
        found = led.propose(led.proposal(ids(led, 0, 1, 2, 3), partition_epoch=epoch))
        expect_error(found.error_code, elected, "the ISR has all that are to be replicas")
        state = broker.eventually(
            lambda: now if (now := led.state()).leader != led.leader.broker_id else None,
            "another leader is shown",
        )
        assert state.leader in ids(led, 1, 3), f"the leader is {state.leader}"
        assert list(state.isr) == sorted(ids(led, 1, 3)), f"the ISR is {state.isr}"


def _reassign(broker: BrokerUnderTest, led: LedPartition, replicas: list[int]) -> None:
    """Asked of the controller by the broker; accepted, or AssertionError."""
    entry = AlterPartitionReassignmentsRequest.ReassignableTopic(
        name=led.topic.name,
        partitions=[AlterPartitionReassignmentsRequest.ReassignablePartition(replicas=replicas)],
    )
    answer = broker.ask(AlterPartitionReassignmentsRequest(timeout_ms=10_000, topics=[entry]))
    found = only(only(answer.responses, "topic").partitions, "partition")
    if answer.error_code or found.error_code:
        told = f"{ErrorCode.describe(answer.error_code)}, {ErrorCode.describe(found.error_code)}"
        raise PreparationFailed(f"AlterPartitionReassignments: {told}")


@judges("ALTP-012")
@needs_broker(Use.JOINABLE)
def test_alter_partition_twice_at_same_epoch_commits_exactly_one(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """Two expansions, sent on two connections before either is answered.

    The ISR is that of the one that is answered without an error.
    """
    led.propose(led.proposal(ids(led, 0)))
    wanted = [ids(led, 0, 1), ids(led, 0, 2)]
    proposals = [led.proposal(isr) for isr in wanted]
    connections = [led.controller.connect() for _ in proposals]
    with requirement("ALTP-012"):
        for connection, proposal in zip(connections, proposals, strict=True):
            connection.send(proposal, led.version)
        answers = [connection.receive() for connection in connections]
        codes = [partition_of(each).error_code for each in answers if _is_answer(each)]
        told = ", ".join(ErrorCode.describe(code) for code in codes)
        expected = [ErrorCode.NONE, ErrorCode.INVALID_UPDATE_VERSION]
        assert sorted(codes) == expected, f"the answers are {told}"
        _await_isr(led, broker, wanted[codes.index(ErrorCode.NONE)])


def _is_answer(message: object) -> TypeGuard[AlterPartitionResponse]:
    return isinstance(message, AlterPartitionResponse)


def _expect_unchanged(led: LedPartition, isr: list[int]) -> None:
    """A proposal with the epochs that were known is no error, so they have not changed."""
    found = led.propose(led.proposal(isr))
    expect_error(found.error_code, ErrorCode.NONE, "the ISR as it was, proposed afterwards")

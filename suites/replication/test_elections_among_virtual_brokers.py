"""ELECT, ALTP: elections of the controller; all replicas are virtual brokers."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised
from harness.client.preparing import preparing
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterPartitionResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import KraftMember
from harness.virtual_broker.leader import RECOVERED, RECOVERING, LedPartition
from suites.replication.support.elections import (
    PREFERRED,
    UNCLEAN,
    await_alive,
    elect,
    election_result,
)
from suites.replication.support.expect import expect_error

NO_LEADER = -1
MOST_CHANGES = 10
"""More changes of one partition than a test makes."""


@pytest.fixture
def led(peers: JoinedCluster) -> LedPartition:
    """A partition with three virtual replicas; the second has the highest broker id."""
    first, third, second = peers.joined(), peers.joined(), peers.joined()
    return peers.led_by(first, second, third)


def _ids(led: LedPartition, *places: int) -> list[int]:
    return [led.replicas[place].broker_id for place in places]


def _expect_leader(broker: BrokerUnderTest, led: LedPartition, leader: int, when: str) -> None:
    """Await this leader. Raises AssertionError."""
    found = broker.last_seen(lambda: led.state().leader, leader.__eq__)
    assert found == leader, f"{when}: the leader is {found}, expected {leader} of {_all(led)}"


def _await_no_leader(broker: BrokerUnderTest, led: LedPartition) -> None:
    """Raises PreparationFailed."""
    with preparing("the partition has no leader"):
        broker.eventually(lambda: led.state().leader == NO_LEADER, "the partition has no leader")


def _all(led: LedPartition) -> list[int]:
    return [each.broker_id for each in led.replicas]


@judges("ELECT-003")
@needs_broker(Use.JOINABLE)
def test_new_leader_is_first_of_assignment_whatever_the_order_of_the_isr(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """The third replica joined the ISR before the second, which has a higher broker id."""
    led.propose(led.proposal(_ids(led, 0, 2)))
    led.propose(led.proposal(_ids(led, 0, 2, 1)))
    led.leader.leave()
    with requirement("ELECT-003"):
        _expect_leader(broker, led, led.replicas[1].broker_id, "the first replica has left")


@judges("ELECT-010")
@needs_broker(Use.JOINABLE)
def test_preferred_leader_that_is_alive_is_elected_only_in_isr(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """The preferred leader has left, is back out of the ISR, and then in it."""
    led.lose_leader()
    preferred, leads = _ids(led, 0, 1)
    led.replicas[0].come_back()
    await_alive(broker, preferred)
    with requirement("ELECT-010"):
        code = election_result(broker, led.topic, PREFERRED)
        expect_error(code, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "it is not in the ISR")
        found, isr = led.state(), tuple(sorted(_ids(led, 1, 2)))
        told = f"after that the leader is {found.leader} and the ISR {found.isr}"
        assert (found.leader, found.isr) == (leads, isr), f"{told}, expected {leads} and {isr}"
        joined = led.propose(led.proposal(_ids(led, 1, 2, 0)))
        expect_error(joined.error_code, ErrorCode.NONE, "the leader adds it to the ISR")
        code = election_result(broker, led.topic, PREFERRED)
        expect_error(code, ErrorCode.NONE, "it is in the ISR")
        _expect_leader(broker, led, preferred, "it was elected")


@judges("ELECT-012")
@needs_broker(Use.JOINABLE)
def test_unclean_election_with_leader_that_is_not_preferred_is_not_needed(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """The preferred leader has left, and is back out of the ISR."""
    led.lose_leader()
    led.replicas[0].come_back()
    await_alive(broker, led.replicas[0].broker_id)
    with requirement("ELECT-012"):
        code = election_result(broker, led.topic, UNCLEAN)
        expect_error(code, ErrorCode.ELECTION_NOT_NEEDED, "the second replica leads")
        _expect_leader(broker, led, led.replicas[1].broker_id, "an unclean election")


@judges("ELECT-022")
@needs_broker(Use.JOINABLE)
def test_unclean_election_elects_first_live_replica_of_assignment(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """The only replica in sync has left, and two others are alive."""
    led.propose(led.proposal(_ids(led, 0)))
    led.leader.leave()
    _await_no_leader(broker, led)
    with requirement("ELECT-022"):
        elect(broker, led.topic, UNCLEAN)
        wanted = led.replicas[1].broker_id
        _expect_leader(broker, led, wanted, "an unclean election")
        isr = led.state().isr
        assert isr == (wanted,), f"the ISR is {isr}, expected {(wanted,)}"


@judges("ALTP-014")
@needs_broker(Use.JOINABLE)
def test_partition_goes_on_recovering_when_its_leader_leaves_and_comes_back(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """After an unclean election the leader reports that it recovers, leaves, and leads again."""
    if led.version < 1:
        raise ApiNotAdvertised("AlterIsr v0 does not know of recovery")
    led.propose(led.proposal(_ids(led, 0)))
    led.leader.leave()
    elect(broker, led.topic, UNCLEAN)
    second = led.replicas[1]
    _lead(broker, led, second)
    second.leave()
    _await_no_leader(broker, led)
    second.come_back()
    _lead(broker, led, second)
    alone, both = _ids(led, 1), _ids(led, 1, 2)
    with requirement("ALTP-014"):
        found = _propose_at_any_epoch(led, alone, RECOVERING)
        expect_error(found.error_code, ErrorCode.NONE, "recovering, elected again")
        told = f"the recovery state is {found.leader_recovery_state}, expected {RECOVERING}"
        assert found.leader_recovery_state == RECOVERING, told
        found = led.propose(led.proposal(both, recovery=RECOVERED))
        expect_error(found.error_code, ErrorCode.NONE, "recovered")
        found = led.propose(led.proposal(both[:1], recovery=RECOVERING))
        expect_error(found.error_code, ErrorCode.INVALID_REQUEST, "recovering once more")


def _lead(broker: BrokerUnderTest, led: LedPartition, member: KraftMember) -> None:
    """Wait until this replica leads."""
    broker.eventually(lambda: led.state().leader == member.broker_id, "it leads")
    led.leader, led.leader_epoch = member, led.state().leader_epoch


def _propose_at_any_epoch(
    led: LedPartition, isr: list[int], recovery: int
) -> AlterPartitionResponse.PartitionData:
    """Propose with the first partition epoch that is not too low."""
    for epoch in range(led.partition_epoch, led.partition_epoch + MOST_CHANGES):
        found = led.propose(led.proposal(isr, partition_epoch=epoch, recovery=recovery))
        if found.error_code != ErrorCode.INVALID_UPDATE_VERSION:
            break
    return found

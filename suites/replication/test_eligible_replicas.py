"""ELECT: eligible leader replicas (KIP-966); all replicas are virtual brokers.

No record is written: the checks judge the metadata that the controller makes of each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised, PreparationFailed
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import KraftMember
from harness.virtual_broker.leader import LedPartition
from suites.protocol.support.config_admin import TOPIC, AlterOperation, change
from suites.replication.support.elections import PREFERRED, await_alive, election_result
from suites.replication.support.eligible import Eligible, described_by, need_eligible_leaders
from suites.replication.support.expect import expect_error

SESSION_MS = 6000
SHORT_SESSIONS = {
    "broker.session.timeout.ms": str(SESSION_MS),
    "broker.heartbeat.interval.ms": "300",
}
NO_LEADER = -1
FIRST_WITH_PREVIOUS_EPOCH = 3
UNKNOWN_EPOCH = -1


@pytest.fixture
def led(peers: JoinedCluster) -> LedPartition:
    """A partition with three virtual replicas; all of them have to be in sync."""
    need_eligible_leaders(peers.broker)
    members = peers.joined(), peers.joined(), peers.joined()
    return peers.led_by(*members, configs={"min.insync.replicas": "3"})


def _ids(*members: KraftMember) -> set[int]:
    return {each.broker_id for each in members}


def _expect(broker: BrokerUnderTest, led: LedPartition, wanted: Eligible, when: str) -> None:
    """Await this state. Raises AssertionError."""
    found = broker.last_seen(lambda: described_by(broker, led.topic), wanted.__eq__)
    assert found == wanted, f"{when}: {found}, expected {wanted}"


def _await(broker: BrokerUnderTest, led: LedPartition, wanted: Eligible) -> None:
    """Prepare this state. Raises ResponseTimeout."""
    broker.eventually(lambda: described_by(broker, led.topic) == wanted, f"the state is {wanted}")


@judges("ELECT-015")
@needs_broker(Use.JOINABLE)
def test_each_replica_that_leaves_isr_below_min_stays_eligible_until_it_is_in_sync(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """Three leave in turn, the second one comes back, and leads alone."""
    first, second, third = led.replicas
    last = third.broker_id
    with requirement("ELECT-015"):
        first.leave()
        state = Eligible(second.broker_id, _ids(second, third), _ids(first), set())
        _expect(broker, led, state, "the first has left")
        second.leave()
        state = Eligible(last, _ids(third), _ids(first, second), set())
        _expect(broker, led, state, "two have left")
        third.leave()
        state = Eligible(NO_LEADER, set(), _ids(first, second, third), {last})
        _expect(broker, led, state, "all have left")
        second.come_back()
        state = Eligible(second.broker_id, _ids(second), _ids(first, third), set())
        _expect(broker, led, state, "the second is back")


@judges("ELECT-015")
@needs_broker(Use.JOINABLE)
def test_replica_that_leaves_isr_above_min_is_not_eligible(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """Two of three have to be in sync: the first to leave is not eligible, the second one is."""
    need_eligible_leaders(broker)
    first, second, third = peers.joined(), peers.joined(), peers.joined()
    led = peers.led_by(first, second, third, configs={"min.insync.replicas": "2"})
    with requirement("ELECT-015"):
        first.leave()
        state = Eligible(second.broker_id, _ids(second, third), set(), set())
        _expect(broker, led, state, "as many as necessary are left")
        second.leave()
        state = Eligible(third.broker_id, _ids(third), _ids(second), set())
        _expect(broker, led, state, "one less than necessary is left")


@judges("ELECT-019")
@needs_broker(Use.JOINABLE)
def test_preferred_leader_that_is_only_eligible_is_not_elected(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """The first replica has left and is back; it is not in the ISR of the others."""
    first, second, third = led.replicas
    first.leave()
    first.come_back()
    await_alive(broker, first.broker_id)
    with requirement("ELECT-019"):
        state = Eligible(second.broker_id, _ids(second, third), _ids(first), set())
        _expect(broker, led, state, "the first is back")
        code = election_result(broker, led.topic, PREFERRED)
        expect_error(code, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "it is only eligible")
        _expect(broker, led, state, "its election was requested")


@judges("ELECT-020")
@needs_broker(Use.JOINABLE, SHORT_SESSIONS)
def test_registration_with_previous_broker_epoch_keeps_replica_eligible(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """Two eligible replicas register again: one names its last broker epoch, one a lower one."""
    _need_previous_epoch(led.replicas[0])
    first, second, third = _all_left(led)
    with requirement("ELECT-020"):
        _register_anew(broker, first, first.broker_epoch)
        _register_anew(broker, second, second.broker_epoch - 1)
        state = Eligible(NO_LEADER, set(), _ids(first, third), _ids(third))
        _expect(broker, led, state, "the first named its epoch, the second another")


@judges("ELECT-020")
@needs_broker(Use.JOINABLE, SHORT_SESSIONS)
def test_registration_without_previous_broker_epoch_ends_eligibility(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """The first replica is eligible, and its next incarnation does not say how the last ended."""
    _need_previous_epoch(led.replicas[0])
    first, second, third = _all_left(led)
    with requirement("ELECT-020"):
        state = Eligible(NO_LEADER, set(), _ids(first, second, third), _ids(third))
        _expect(broker, led, state, "all have left")
        _register_anew(broker, first, UNKNOWN_EPOCH)
        state = Eligible(NO_LEADER, set(), _ids(second, third), _ids(third))
        _expect(broker, led, state, "the first is another incarnation")


@judges("ELECT-021")
@needs_broker(Use.JOINABLE, SHORT_SESSIONS)
def test_last_known_leader_is_not_elected_while_another_replica_is_eligible(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """The last leader comes back after an unclean shutdown, before the replicas that may lead."""
    first, second, third = _all_left(led)
    _register_anew(broker, third, UNKNOWN_EPOCH)
    third.come_back()
    await_alive(broker, third.broker_id)
    with requirement("ELECT-021"):
        state = Eligible(NO_LEADER, set(), _ids(first, second), _ids(third))
        _expect(broker, led, state, "the last leader is back")
        second.come_back()
        state = Eligible(second.broker_id, _ids(second), _ids(first), set())
        _expect(broker, led, state, "an eligible replica is back")


@judges("ELECT-023")
@needs_broker(Use.JOINABLE)
def test_change_of_min_insync_replicas_of_topic_clears_its_eligible_replicas(
    led: LedPartition, peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """One replica of each of two topics has left; only one topic gets a lower minimum.

    Before, that topic gets another config. Then a second replica leaves: it is the only eligible
    one, and leads when all others are gone.
    """
    first, second, third = led.replicas
    other = peers.led_by(first, second, third, configs={"min.insync.replicas": "3"})
    first.leave()
    whole = Eligible(second.broker_id, _ids(second, third), _ids(first), set())
    for each in led, other:
        _await(broker, each, whole)
    with requirement("ELECT-023"):
        _set_config(broker, led, "retention.ms", "123456789")
        _expect(broker, led, whole, "another config has changed")
        _set_config(broker, led, "min.insync.replicas", "2")
        cleared = Eligible(second.broker_id, _ids(second, third), set(), set())
        _expect(broker, led, cleared, "the minimum has changed")
        _expect(broker, other, whole, "the minimum of another topic has changed")
        second.leave()
        state = Eligible(third.broker_id, _ids(third), _ids(second), set())
        _expect(broker, led, state, "a second replica has left")


@judges("ELECT-023")
@needs_broker(Use.JOINABLE)
def test_change_of_min_insync_replicas_clears_last_known_leader(
    led: LedPartition, broker: BrokerUnderTest
) -> None:
    """All replicas have left; a config with the value that it has already changes nothing."""
    first, second, third = _all_left(led)
    state = Eligible(NO_LEADER, set(), _ids(first, second, third), _ids(third))
    _await(broker, led, state)
    with requirement("ELECT-023"):
        _set_config(broker, led, "min.insync.replicas", "3")
        _expect(broker, led, state, "the minimum was set to its value")
        _set_config(broker, led, "min.insync.replicas", "1")
        _expect(broker, led, Eligible(NO_LEADER, set(), set(), set()), "the minimum has changed")


def _set_config(broker: BrokerUnderTest, led: LedPartition, name: str, value: str) -> None:
    """Set one config of the topic."""
    code = change(broker, (TOPIC, led.topic.name), (name, AlterOperation.SET, value))
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"IncrementalAlterConfigs: {ErrorCode.describe(code)}", code)


def _all_left(led: LedPartition) -> Sequence[KraftMember]:
    """The replicas, after they have left in their order: the last one was the last leader."""
    for member in led.replicas:
        member.leave()
    return led.replicas


def _need_previous_epoch(member: KraftMember) -> None:
    if member.controller.version("BrokerRegistration") < FIRST_WITH_PREVIOUS_EPOCH:
        raise ApiNotAdvertised("BrokerRegistration below v3 has no previous broker epoch")


def _register_anew(broker: BrokerUnderTest, member: KraftMember, previous_epoch: int) -> None:
    """Register the next incarnation, which is refused until the session of the last has ended."""
    member.incarnation_id = uuid4()
    request = member.registration()
    request.previous_broker_epoch = previous_epoch
    code = broker.last_seen(
        lambda: member.ask_to_register(request).error_code,
        lambda code: code != ErrorCode.DUPLICATE_BROKER_REGISTRATION,
    )
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"BrokerRegistration: {ErrorCode.describe(code)}", code)

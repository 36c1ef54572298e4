"""ALTP: epochs of a proposal and of the members; all replicas are virtual brokers."""

from __future__ import annotations

import pytest

from harness.client.errors import ApiNotAdvertised
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.leader import FIRST_WITH_EPOCHS, LedPartition
from suites.replication.support.expect import expect_error


@pytest.fixture
def led(peers: JoinedCluster) -> LedPartition:
    """A partition with three virtual replicas, all in the ISR."""
    return peers.led_by(peers.joined(), peers.joined(), peers.joined())


def ids(led: LedPartition, *places: int) -> list[int]:
    """Broker ids of the replicas at these places; 0 is the leader's."""
    return [led.replicas[place].broker_id for place in places]


@judges("ALTP-006")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_stale_epoch_of_isr_member_is_refused(led: LedPartition) -> None:
    """The leader or a follower, which are in the ISR already, is named with another epoch."""
    if led.version < FIRST_WITH_EPOCHS:
        raise ApiNotAdvertised(f"AlterPartition v{led.version} has no broker epochs of members")
    with requirement("ALTP-006") as check:
        for member in led.replicas[:2]:
            for change in (-1, 1):
                what = f"member {led.replicas.index(member)} with its broker epoch {change:+d}"
                with check.subtest(what):
                    wrong = {member.broker_id: member.broker_epoch + change}
                    found = led.propose(led.proposal(ids(led, 0, 1), broker_epochs=wrong))
                    expect_error(found.error_code, ErrorCode.INELIGIBLE_REPLICA, what)
        found = led.propose(led.proposal(ids(led, 0, 1, 2)))
        expect_error(found.error_code, ErrorCode.NONE, "the ISR as it was, with right epochs")


@judges("ALTP-007")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_fenced_member_is_refused_without_its_epoch(led: LedPartition) -> None:
    """Broker epochs of -1 skip that check alone; right epochs of the others make no difference."""
    if led.version < FIRST_WITH_EPOCHS:
        raise ApiNotAdvertised(f"AlterPartition v{led.version} has no broker epochs of members")
    led.propose(led.proposal(ids(led, 0, 1)))
    led.replicas[2].leave()
    everybody, epoch = ids(led, 0, 1, 2), led.partition_epoch
    with requirement("ALTP-007") as check:
        for what, without in (("all members", everybody), ("the fenced member", everybody[2:])):
            with check.subtest(what):
                unknown = dict.fromkeys(without, -1)
                proposal = led.proposal(everybody, partition_epoch=epoch, broker_epochs=unknown)
                found = led.propose(proposal)
                where = f"a fenced member, broker epoch -1 of {what}"
                expect_error(found.error_code, ErrorCode.INELIGIBLE_REPLICA, where)


@judges("ALTP-015")
@needs_broker(Use.JOINABLE)
def test_alter_partition_with_present_isr_keeps_partition_epoch(led: LedPartition) -> None:
    """The ISR as it is, of three and of two members, twice each."""
    with requirement("ALTP-015"):
        _expect_epochs_kept(led, ids(led, 0, 1, 2))
        led.propose(led.proposal(ids(led, 0, 1)))
        _expect_epochs_kept(led, ids(led, 0, 1))


def _expect_epochs_kept(led: LedPartition, isr: list[int]) -> None:
    epochs = led.leader_epoch, led.partition_epoch
    for _ in range(2):
        found = led.propose(led.proposal(isr))
        expect_error(found.error_code, ErrorCode.NONE, f"the present ISR {isr}")
        told = found.leader_epoch, found.partition_epoch
        assert told == epochs, f"(leader, partition) epoch is {told}, expected {epochs}"

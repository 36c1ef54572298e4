"""ELECT: the only replica in sync goes and comes back."""

from __future__ import annotations

from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.leader import LedPartition

NO_LEADER = -1


def _await_leader(led: LedPartition, leader: int) -> None:
    led.controller.broker.eventually(
        lambda: led.state().leader == leader, f"{led.topic.name} is led by {leader}"
    )


@judges("ELECT-005")
@needs_broker(Use.JOINABLE)
def test_returned_broker_leads_all_partitions_that_only_it_can_lead(peers: JoinedCluster) -> None:
    """Of two it has the only replica; of a third the other replica is alive and not in sync."""
    member, other = peers.joined(), peers.joined()
    shared = peers.led_by(member, other)
    shared.propose(shared.proposal([member.broker_id]))
    partitions = [peers.led_by(member), shared, peers.led_by(member)]
    epochs = [led.state().leader_epoch for led in partitions]
    member.leave()
    for led in partitions:
        _await_leader(led, NO_LEADER)
    with requirement("ELECT-005"):
        member.come_back()
        for number, (led, epoch) in enumerate(zip(partitions, epochs, strict=True)):
            found = peers.broker.last_seen(led.state, lambda state: state.leader != NO_LEADER)
            where = f"partition {number} of {len(partitions)}"
            assert found.leader == member.broker_id, f"{where}: the leader is {found.leader}"
            assert found.isr == (member.broker_id,), f"{where}: the ISR is {found.isr}"
            assert found.leader_epoch > epoch, (
                f"{where}: the leader epoch is {found.leader_epoch}, before it was {epoch}"
            )

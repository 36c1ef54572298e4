"""BROK: a broker registers again, as the same incarnation or as the next one."""

from __future__ import annotations

import uuid

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import KraftMember
from suites.replication.support.expect import expect_error

BEFORE_REGISTRATION = 0
"""An offset of the metadata log: a heartbeat with it unfences nothing."""


@judges("BROK-018")
@needs_broker(Use.JOINABLE)
def test_registration_of_fenced_broker_id_returns_duplicate_broker_registration(
    peers: JoinedCluster,
) -> None:
    """It was fenced by its own wish; then one that was never unfenced. Each had a heartbeat."""
    once, never = peers.joined(), peers.newcomer()
    once.leave()
    never.register()
    never.heartbeat(metadata_offset=BEFORE_REGISTRATION)
    with requirement("BROK-018"):
        for what, member in (("fenced by its wish", once), ("never unfenced", never)):
            another = member.registration()
            another.incarnation_id = uuid.uuid4()
            found = member.controller.ask(another).error_code
            expect_error(found, ErrorCode.DUPLICATE_BROKER_REGISTRATION, what)
            _expect_unfenced_by_heartbeat(member)


@judges("BROK-019")
@needs_broker(Use.JOINABLE)
def test_same_incarnation_registers_again_and_keeps_epoch_and_fence(peers: JoinedCluster) -> None:
    """Unfenced, then fenced by its own wish."""
    member = peers.joined()
    epoch = member.broker_epoch
    with requirement("BROK-019"):
        for is_fenced in (False, True):
            if is_fenced:
                member.leave()
            when = f"registered again, fenced before: {is_fenced}"
            answer = member.controller.ask(member.registration())
            expect_error(answer.error_code, ErrorCode.NONE, when)
            told = f"{when}: the broker epoch is {answer.broker_epoch}, expected {epoch}"
            assert answer.broker_epoch == epoch, told
            _expect_fenced(member, is_fenced=is_fenced, when=when)
            _expect_in_isr_of_new_topic(peers, member, is_fenced=is_fenced, when=when)
        _expect_unfenced_by_heartbeat(member)
        peers.kraft_world.await_shown(member.broker_id)


@judges("BROK-019")
@needs_broker(Use.JOINABLE)
def test_same_incarnation_registers_again_and_stays_in_controlled_shutdown(
    peers: JoinedCluster,
) -> None:
    """Another broker has not read of the shutdown, so the broker may not stop yet."""
    member, reader = peers.joined(), peers.joined()
    partition, behind = peers.beside(member), reader.broker_epoch
    reader.heartbeat(metadata_offset=behind)
    member.heartbeat(want_shut_down=True)  # the shutdown begins: it leads a partition
    partition.await_isr(peers.leader)
    with requirement("BROK-019"):
        when = "registered again in its controlled shutdown"
        answer = member.controller.ask(member.registration())
        expect_error(answer.error_code, ErrorCode.NONE, when)
        told = f"{when}: the broker epoch is {answer.broker_epoch}, expected {member.broker_epoch}"
        assert answer.broker_epoch == member.broker_epoch, told
        _expect_in_isr_of_new_topic(peers, member, is_fenced=True, when=when)


def _expect_fenced(member: KraftMember, *, is_fenced: bool, when: str) -> None:
    answer = member.heartbeat(metadata_offset=BEFORE_REGISTRATION)
    expect_error(answer.error_code, ErrorCode.NONE, f"{when}: a heartbeat")
    assert answer.is_fenced == is_fenced, f"{when}: fenced is {answer.is_fenced}"
    assert not answer.is_caught_up, f"{when}: caught up at the offset {BEFORE_REGISTRATION}"


def _expect_in_isr_of_new_topic(
    peers: JoinedCluster, member: KraftMember, *, is_fenced: bool, when: str
) -> None:
    """Only a broker that is unfenced in the metadata, and does not shut down, is in the ISR of a
    new topic."""
    broker, name = peers.broker, peers.broker.unique_topic()
    peers.world.create_topic(name, [[peers.leader, member.broker_id]], {})
    wanted = (peers.leader,) if is_fenced else (peers.leader, member.broker_id)
    isr = broker.last_seen(lambda: peers.world.state(name, 0).isr, wanted.__eq__)
    assert isr == wanted, f"{when}: the ISR of a new topic is {isr}, expected {wanted}"


def _expect_unfenced_by_heartbeat(member: KraftMember) -> None:
    answer = member.heartbeat()
    expect_error(answer.error_code, ErrorCode.NONE, "a heartbeat that has read all")
    assert not answer.is_fenced, "it has read all, and is fenced"
    assert answer.is_caught_up, "it has read all, and is not caught up"

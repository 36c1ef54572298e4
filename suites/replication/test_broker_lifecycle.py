"""BROK, SHUT: a controller and a broker that registers, beats, is fenced and shuts down."""

from __future__ import annotations

import itertools
import time
import uuid

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised, PreparationFailed
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    AssignReplicasToDirsRequest,
    BrokerRegistrationRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import FIRST_WITH_LOG_DIRS, KraftMember
from harness.virtual_broker.partition import FIRST_WITH_REPLICA_STATE
from suites.replication.support.elections import PREFERRED, election_result
from suites.replication.support.expect import expect_error, expect_high_watermark, expect_sound

ANOTHER_CLUSTER = "AAAAAAAAAAAAAAAAAAAAAA"
NO_TOPIC = uuid.UUID(int=0x7777)
NO_PARTITION = 7
RESERVED_DIRECTORIES = (ZERO_UUID, uuid.UUID(int=1), uuid.UUID(int=2))
"""Ids of no directory: unassigned, lost, and one that is reserved (KIP-858)."""
METADATA_VERSION = "metadata.version"
SHORT_SESSION = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "300"}


def _alive(broker: BrokerUnderTest) -> set[int]:
    """Brokers that Metadata lists."""
    return {each.node_id for each in broker.metadata([]).brokers}


@pytest.fixture
def newcomer(peers: JoinedCluster) -> KraftMember:
    """A broker that has not registered."""
    return peers.newcomer()


@judges("BROK-001")
@needs_broker(Use.JOINABLE)
def test_registration_with_wrong_cluster_id_returns_inconsistent_cluster_id(
    newcomer: KraftMember,
) -> None:
    """With the right id it is taken."""
    wrong = newcomer.registration()
    wrong.cluster_id = ANOTHER_CLUSTER
    with requirement("BROK-001"):
        found = newcomer.ask_to_register(wrong).error_code
        expect_error(found, ErrorCode.INCONSISTENT_CLUSTER_ID, "another cluster id")
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "the right one")


@judges("BROK-002")
@needs_broker(Use.JOINABLE)
def test_registration_of_live_broker_id_returns_duplicate_broker_registration(
    peers: JoinedCluster,
) -> None:
    """Another incarnation, while the first has a session; the first itself may register again."""
    member = peers.joined()
    another = member.registration()
    another.incarnation_id = uuid.uuid4()
    with requirement("BROK-002"):
        found = member.controller.ask(another).error_code
        expect_error(found, ErrorCode.DUPLICATE_BROKER_REGISTRATION, "another incarnation")
        expect_error(member.ask_to_register().error_code, ErrorCode.NONE, "the same incarnation")


@judges("BROK-003")
@needs_broker(Use.JOINABLE, SHORT_SESSION)
def test_registration_after_session_expiry_returns_larger_broker_epoch(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """Another incarnation gets a larger broker epoch, and the old one is no longer good."""
    member = peers.joined()
    old = member.broker_epoch
    broker.eventually(lambda: member.broker_id not in _alive(broker), "the session has ended")
    member.incarnation_id = uuid.uuid4()
    with requirement("BROK-003"):
        expect_error(member.ask_to_register().error_code, ErrorCode.NONE, "another incarnation")
        told = f"the broker epoch is {member.broker_epoch}, that of the incarnation before {old}"
        assert member.broker_epoch > old, told
        found = member.heartbeat(broker_epoch=old).error_code
        expect_error(found, ErrorCode.STALE_BROKER_EPOCH, "a heartbeat of the incarnation before")


@judges("BROK-006")
@needs_broker(Use.JOINABLE)
def test_broker_heartbeat_with_wrong_epoch_returns_stale_broker_epoch(peers: JoinedCluster) -> None:
    """One less and one more than the registration's, and one of a broker without registration."""
    member, without = peers.joined(), peers.newcomer()
    with requirement("BROK-006") as check:
        for epoch in (member.broker_epoch - 1, member.broker_epoch + 1):
            with check.subtest(f"epoch {epoch - member.broker_epoch:+d}"):
                found = member.heartbeat(broker_epoch=epoch, want_fence=True).error_code
                what = f"epoch {epoch}, the registration's is {member.broker_epoch}"
                expect_error(found, ErrorCode.STALE_BROKER_EPOCH, what)
        with check.subtest("no registration"):
            found = without.heartbeat(broker_epoch=member.broker_epoch, want_fence=True).error_code
            expect_error(found, ErrorCode.STALE_BROKER_EPOCH, "a broker that has not registered")
        told = member.heartbeat(metadata_offset=0)  # which unfences no broker
        expect_error(told.error_code, ErrorCode.NONE, "the right epoch")
        assert not told.is_fenced, "fenced by heartbeats with wrong epochs"


@judges("BROK-007")
@needs_broker(Use.JOINABLE)
def test_registered_broker_stays_fenced_until_it_reads_its_registration(
    newcomer: KraftMember, broker: BrokerUnderTest
) -> None:
    """Heartbeats from the beginning of the metadata log, from the offset before the registration,
    then from the registration itself: of a new broker id its offset is the broker epoch.
    """
    with requirement("BROK-007"):
        newcomer.register()
        for offset in (0, 1, newcomer.broker_epoch - 1):
            told = newcomer.heartbeat(metadata_offset=offset)
            expect_error(told.error_code, ErrorCode.NONE, f"a heartbeat at offset {offset}")
            assert told.is_fenced, f"unfenced at offset {offset} of the metadata log"
            assert not told.is_caught_up, f"caught up at offset {offset} of the metadata log"
        assert newcomer.broker_id not in _alive(broker), "Metadata lists it while it is fenced"
        told = newcomer.heartbeat(metadata_offset=newcomer.broker_epoch)
        expect_error(told.error_code, ErrorCode.NONE, "a heartbeat at the registration")
        assert not told.is_fenced, "fenced, although it has read its registration"
        assert told.is_caught_up, "not caught up, although it has read its registration"
        broker.eventually(
            lambda: newcomer.broker_id in _alive(broker), "Metadata lists the unfenced broker"
        )


@judges("BROK-008")
@needs_broker(Use.JOINABLE, SHORT_SESSION)
def test_broker_without_heartbeats_is_fenced_and_leaves_isr(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """It leads a partition and follows another; one heartbeat, and no more."""
    member = peers.joined()
    followed = peers.partition([member])
    led = peers.led_by(member)
    with requirement("BROK-008"):
        followed.await_isr(peers.leader)
        broker.eventually(lambda: member.broker_id not in _alive(broker), "Metadata lists it")
        led.controller.broker.eventually(lambda: led.state().leader == -1, "it leads no more")
        told = member.heartbeat(metadata_offset=0)
        expect_error(told.error_code, ErrorCode.NONE, "a late heartbeat")
        assert told.is_fenced, "the late heartbeat is answered as to one that is not fenced"
        expect_sound(followed)


@judges("BROK-009")
@needs_broker(Use.JOINABLE)
def test_broker_heartbeat_honors_want_fence_and_want_shut_down(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """Out of the ISR; unfenced by the next heartbeat; fenced when it shuts down."""
    member = peers.joined()
    partition = peers.partition([member])
    with requirement("BROK-009"):
        told = member.heartbeat(want_fence=True)
        expect_error(told.error_code, ErrorCode.NONE, "want_fence")
        assert told.is_fenced, "want_fence is answered as to one that is not fenced"
        partition.await_isr(peers.leader)
        broker.eventually(lambda: member.broker_id not in _alive(broker), "it is not listed")
        assert member.heartbeat(want_fence=True).is_fenced, "unfenced, and wants it still"
        assert not member.heartbeat().is_fenced, "fenced, and wants it no more"
        told = member.heartbeat(want_shut_down=True)
        expect_error(told.error_code, ErrorCode.NONE, "want_shut_down")
        assert told.should_shut_down, "it leads nothing and may not shut down"
        for _ in range(2):
            told = member.heartbeat(want_shut_down=True)
            assert told.should_shut_down, "it is fenced and may not shut down"
            assert told.is_fenced, "a wish to shut down unfences it"
        expect_sound(partition)


@judges("BROK-010")
@needs_broker(Use.JOINABLE)
def test_registration_with_bad_log_dirs_returns_invalid_registration(newcomer: KraftMember) -> None:
    """None, one that is reserved, one twice."""
    if newcomer.controller.version("BrokerRegistration") < FIRST_WITH_LOG_DIRS:
        raise ApiNotAdvertised("BrokerRegistration below v2 has no log directories")
    own = newcomer.log_dirs[0]
    wrong = {"no directory": [], "one twice": [own, own], "a reserved one beside its own": []}
    wrong["a reserved one beside its own"] = [own, RESERVED_DIRECTORIES[-1]]
    wrong |= {f"the reserved {one}": [one] for one in RESERVED_DIRECTORIES}
    with requirement("BROK-010") as check:
        for what, directories in wrong.items():
            with check.subtest(what):
                request = newcomer.registration()
                request.log_dirs = directories
                found = newcomer.ask_to_register(request).error_code
                expect_error(found, ErrorCode.INVALID_REGISTRATION, what)
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "one of its own")


@judges("BROK-011")
@needs_broker(Use.JOINABLE)
def test_registration_with_old_metadata_version_returns_unsupported_version(
    newcomer: KraftMember,
) -> None:
    """It supports the first metadata.version alone, or only one that is later than all that the
    controller supports.
    """
    old, later = newcomer.registration(), newcomer.registration()
    feature = _metadata_version(old)
    feature.max_supported_version = feature.min_supported_version
    feature = _metadata_version(later)
    feature.max_supported_version += 1
    feature.min_supported_version = feature.max_supported_version
    with requirement("BROK-011"):
        found = newcomer.ask_to_register(old).error_code
        expect_error(found, ErrorCode.UNSUPPORTED_VERSION, "an old metadata.version")
        found = newcomer.ask_to_register(later).error_code
        expect_error(found, ErrorCode.UNSUPPORTED_VERSION, "a later metadata.version")
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "what it supports")


def _metadata_version(request: BrokerRegistrationRequest) -> BrokerRegistrationRequest.Feature:
    for feature in request.features:
        if feature.name == METADATA_VERSION:
            return feature
    raise ApiNotAdvertised("the controller lists no metadata.version")


@judges("BROK-012")
@needs_broker(Use.JOINABLE)
def test_follower_fetch_with_old_broker_epoch_returns_not_leader_or_follower(
    peers: JoinedCluster,
) -> None:
    """A broker epoch below that of the registration: what it says to have is not believed."""
    member = peers.joined()
    partition = peers.partition([member])
    if partition.fetch_version < FIRST_WITH_REPLICA_STATE:
        raise ApiNotAdvertised("Fetch below v15 has no broker epoch")
    old = member.broker_epoch - 1
    partition.follow(member, 0)
    partition.produce(2)
    with requirement("BROK-012"):
        read = partition.follow(member, 2, broker_epoch=old)
        expect_error(read.error, ErrorCode.NOT_LEADER_OR_FOLLOWER, f"broker epoch {old}")
        expect_high_watermark(partition, 0, "an old broker epoch asked for offset 2")
        partition.follow(member, 2)
        expect_high_watermark(partition, 2, "the right one did")
        expect_sound(partition)


@judges("BROK-015")
@needs_broker(Use.JOINABLE)
def test_allocate_producer_ids_returns_disjoint_blocks(peers: JoinedCluster) -> None:
    """Two brokers get a block, one of them two more; wrong broker epochs get none."""
    one, other = peers.joined(), peers.joined()
    with requirement("BROK-015") as check:
        blocks = [_block(one), _block(other), _block(one), _block(one)]
        ranges = sorted((b.producer_id_start, b.producer_id_len) for b in blocks)
        assert all(length > 0 for _, length in ranges), f"an empty block: {ranges}"
        for (start, length), (following, _) in itertools.pairwise(ranges):
            assert start + length <= following, f"the blocks overlap: {ranges}"
        for wrong in (-1, +1):
            with check.subtest(f"epoch {wrong:+d}"):
                refused = _allocate(one, one.broker_epoch + wrong).error_code
                expect_error(refused, ErrorCode.STALE_BROKER_EPOCH, f"epoch {wrong:+d}")


def _allocate(member: KraftMember, epoch: int) -> AllocateProducerIdsResponse:
    request = AllocateProducerIdsRequest(broker_id=member.broker_id, broker_epoch=epoch)
    return member.controller.ask(request)


def _block(member: KraftMember) -> AllocateProducerIdsResponse:
    answer = _allocate(member, member.broker_epoch)
    expect_error(answer.error_code, ErrorCode.NONE, "a block of producer ids")
    return answer


@judges("BROK-016")
@needs_broker(Use.JOINABLE)
def test_assign_replicas_to_dirs_returns_error_per_partition(peers: JoinedCluster) -> None:
    """A replica of the broker's, one that is another's, an unknown partition and topic."""
    member = peers.joined()
    mine, others = peers.led_by(member).topic, peers.led_by(peers.joined()).topic
    asked = {
        (mine.id, 0): ErrorCode.NONE,
        (mine.id, NO_PARTITION): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        (others.id, 0): ErrorCode.NOT_LEADER_OR_FOLLOWER,
        (NO_TOPIC, 0): ErrorCode.UNKNOWN_TOPIC_ID,
    }
    request = _assignment(member, list(asked))
    with requirement("BROK-016"):
        answer = member.controller.ask(request)
        expect_error(answer.error_code, ErrorCode.NONE, "the whole answer")
        told = [directory.id for directory in answer.directories]
        assert told == member.log_dirs, f"directories {told}, asked were {member.log_dirs}"
        found = {
            (topic.topic_id, partition.partition_index): partition.error_code
            for directory in answer.directories
            for topic in directory.topics
            for partition in topic.partitions
        }
        for place, code in asked.items():
            assert place in found, f"the answer lacks {place}"
            expect_error(found[place], code, f"{place}")
        request.broker_epoch -= 1
        refused = member.controller.ask(request).error_code
        expect_error(refused, ErrorCode.STALE_BROKER_EPOCH, "an old broker epoch")


def _assignment(
    member: KraftMember, places: list[tuple[uuid.UUID, int]]
) -> AssignReplicasToDirsRequest:
    """All these replicas are in the broker's one directory."""
    kinds = AssignReplicasToDirsRequest
    partitions: dict[uuid.UUID, list[int]] = {}
    for topic, partition in places:
        partitions.setdefault(topic, []).append(partition)
    topics = [
        kinds.TopicData(
            topic_id=topic,
            partitions=[kinds.PartitionData(partition_index=each) for each in indexes],
        )
        for topic, indexes in partitions.items()
    ]
    directory = kinds.DirectoryData(id=member.log_dirs[0], topics=topics)
    return kinds(
        broker_id=member.broker_id, broker_epoch=member.broker_epoch, directories=[directory]
    )


# -- controlled shutdown ---------------------------------------------------------------------------


@judges("SHUT-004")
@needs_broker(Use.JOINABLE)
def test_should_shut_down_is_true_only_after_leadership_moved(peers: JoinedCluster) -> None:
    """The real broker is the other replica; the answer is asked for again and again."""
    member = peers.joined()
    partition = peers.beside(member)
    with requirement("SHUT-004"):
        told = member.heartbeat(want_shut_down=True)
        expect_error(told.error_code, ErrorCode.NONE, "want_shut_down")
        assert not told.should_shut_down, "it may shut down at once, and leads a partition"
        deadline = time.monotonic() + peers.broker.scaled_ms(15_000) / 1000
        while not told.should_shut_down and time.monotonic() < deadline:
            told = member.heartbeat(want_shut_down=True)
        assert told.should_shut_down, "it may not shut down after 15 s"
        state = partition.await_isr(peers.leader)
        assert state.leader == peers.leader, f"the leader is {state.leader}"
        expect_sound(partition)


@judges("SHUT-005")
@needs_broker(Use.JOINABLE)
def test_broker_in_controlled_shutdown_is_not_added_to_isr(peers: JoinedCluster) -> None:
    """It goes on to fetch at the log end, while its shutdown is being granted.

    It is the preferred leader of the partition that it led, and of a new one.
    """
    member = peers.joined()
    led, followed = peers.beside(member), peers.partition([member])
    followed.produce(2)
    followed.follow(member, 2)
    if member.heartbeat(want_shut_down=True).should_shut_down:
        raise PreparationFailed("the shutdown is granted before it can be looked at")
    followed.await_isr(peers.leader)
    with requirement("SHUT-005"):
        for _ in range(5):
            followed.follow(member, 2)
            followed.produce(0)
            state = followed.state()
            assert state.isr == (peers.leader,), f"the ISR is {state.isr}"
        state = led.await_isr(peers.leader)
        assert state.leader == peers.leader, f"the leader is {state.leader}"
        code = election_result(peers.broker, led.topic, PREFERRED)
        expect_error(code, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "it is elected on request")
        _expect_led_by_other(peers, member)
        expect_sound(followed)


def _expect_led_by_other(peers: JoinedCluster, member: KraftMember) -> None:
    """A new partition with the shutting-down broker as its first replica has another leader."""
    name, leads = peers.broker.unique_topic(), peers.leader
    peers.world.create_topic(name, [[member.broker_id, leads]], {})
    state = peers.broker.last_seen(
        lambda: peers.world.state(name, 0), lambda state: state.isr == (leads,)
    )
    told = f"a new partition has the leader {state.leader} and the ISR {state.isr}"
    assert (state.leader, state.isr) == (leads, (leads,)), f"{told}, expected only {leads}"

"""TOPIC, ISR, META: the placement of replicas, also where no broker could lead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreatePartitionsRequest, CreateTopicsRequest, MetadataRequest
from harness.conformance.checks import Check, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from suites.replication.support.expect import expect_error

PARTITIONS, REPLICAS = 6, 3
TIMEOUT_MS = 10_000
LeaderAndIsr = tuple[int, tuple[int, ...]]
SPREAD = 5  # partitions of a topic with a leader on each broker
ALONE = {"num.partitions": "1"}  # no other test has this broker, where its members would be listed


@judges("TOPIC-036")
@needs_broker(Use.JOINABLE)
def test_create_topics_on_fenced_brokers_returns_invalid_replica_assignment(
    peers: JoinedCluster,
) -> None:
    """Both brokers of the assignment are fenced; when one is back the same request is taken."""
    members, broker = [peers.joined(), peers.joined()], peers.broker
    request = CreateTopicsRequest
    assigned = request.CreatableReplicaAssignment(broker_ids=[each.broker_id for each in members])
    name = broker.unique_topic()
    topic = request.CreatableTopic(
        name=name, num_partitions=-1, replication_factor=-1, assignments=[assigned]
    )
    wanted = request(topics=[topic], timeout_ms=10_000)
    for member in members:
        member.leave()
    with requirement("TOPIC-036"):
        refused = only(broker.ask(wanted).topics, "topic")
        expect_error(
            refused.error_code, ErrorCode.INVALID_REPLICA_ASSIGNMENT, "both brokers are fenced"
        )
        shown = only(broker.metadata([name]).topics, "topic")
        expect_error(
            shown.error_code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "Metadata of what was refused"
        )
        members[1].come_back()
        broker.delete_later(name)
        taken = only(broker.ask(wanted).topics, "topic")
        expect_error(taken.error_code, ErrorCode.NONE, "one of the brokers is back")


@judges("ISR-017")
@needs_broker(Use.JOINABLE)
def test_isr_of_new_topic_has_only_replicas_on_brokers_that_are_alive(
    peers: JoinedCluster,
) -> None:
    """One broker has left: it is the second of three replicas, and the first of them."""
    assignment, wanted = _with_an_absent_replica(peers)
    name = peers.broker.unique_topic()
    peers.world.create_topic(name, assignment, {})
    with requirement("ISR-017") as check:
        _expect_led(check, peers, name, (0, 1), wanted)


@judges("ISR-017")
@needs_broker(Use.JOINABLE)
def test_isr_of_added_partitions_has_only_replicas_on_brokers_that_are_alive(
    peers: JoinedCluster,
) -> None:
    """As above, for the second and the third partition of a topic."""
    assignment, wanted = _with_an_absent_replica(peers)
    name = peers.broker.unique_topic()
    peers.world.create_topic(name, assignment[:1], {})
    _add(peers.broker, name, assignment)
    with requirement("ISR-017") as check:
        _expect_led(check, peers, name, (1, 2), wanted)


def _with_an_absent_replica(peers: JoinedCluster) -> tuple[list[list[int]], LeaderAndIsr]:
    """Return the replicas of two partitions, and leader and ISR of each."""
    alive, gone = peers.join(), peers.join()
    gone.leave()
    real, other = peers.leader, alive.broker_id
    assignment = [[real, gone.broker_id, other], [gone.broker_id, real, other]]
    return assignment, (real, tuple(sorted((real, other))))


def _expect_led(
    check: Check,
    peers: JoinedCluster,
    name: str,
    partitions: Sequence[int],
    wanted: LeaderAndIsr,
) -> None:
    for partition in partitions:
        with check.subtest(f"partition {partition}"):
            shown = peers.broker.last_seen(
                partial(_leader_and_isr, peers, name, partition), wanted.__eq__
            )
            assert shown == wanted, f"leader and ISR are {shown}, not {wanted}"


def _add(broker: BrokerUnderTest, name: str, assignment: list[list[int]]) -> None:
    """Add partitions with these replicas to a topic that has one partition."""
    request = CreatePartitionsRequest
    added = [request.CreatePartitionsAssignment(broker_ids=each) for each in assignment]
    topic = request.CreatePartitionsTopic(name=name, count=1 + len(added), assignments=added)
    result = only(broker.ask(request(topics=[topic], timeout_ms=TIMEOUT_MS)).results, "topic")
    if result.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"CreatePartitions: {ErrorCode.describe(result.error_code)}")


def _leader_and_isr(peers: JoinedCluster, name: str, partition: int) -> LeaderAndIsr:
    state = peers.world.state(name, partition)
    return state.leader, state.isr


@judges("TOPIC-004")
@needs_broker(Use.JOINABLE, {"broker.rack": "a"})
def test_create_topics_spreads_replicas_over_racks(peers: JoinedCluster) -> None:
    """The real broker is in rack a; b has one broker, c has four."""
    racks = {peers.leader: "a"}
    for rack in "bcccc":
        racks[peers.join(rack=rack).broker_id] = rack
    broker = peers.broker
    broker.eventually(lambda: _racks(broker) == racks, f"the brokers are listed: {racks}")
    name = broker.unique_topic()
    _create(broker, name)
    with requirement("TOPIC-004"):
        told = broker.last_seen(
            lambda: only(broker.metadata([name]).topics, "topic").partitions,
            lambda seen: len(seen) == PARTITIONS,
        )
        assert len(told) == PARTITIONS, f"there are {len(told)} partitions"
        for each in told:
            found = sorted(racks[node] for node in each.replica_nodes)
            where = f"partition {each.partition_index} on {list(each.replica_nodes)}"
            assert found == sorted(set(racks.values())), f"{where}: in the racks {found}"


@judges("TOPIC-002")
@needs_broker(Use.JOINABLE, ALONE)
def test_create_topics_spreads_leaders_over_brokers_of_one_rack(peers: JoinedCluster) -> None:
    """No broker has a rack. Each of them is the first replica of one partition."""
    broker = peers.broker
    known = {peers.leader, *(peers.join().broker_id for _ in range(SPREAD - 1))}
    broker.eventually(lambda: set(_racks(broker)) == known, f"the brokers are listed: {known}")
    with requirement("TOPIC-002"):
        firsts = sorted(replicas[0] for replicas in _placed(broker))
        assert firsts == sorted(known), f"first replicas are {firsts}, the brokers {sorted(known)}"


@judges("TOPIC-002")
@needs_broker(Use.JOINABLE, {"broker.rack": "d"})
def test_create_topics_with_fewer_racks_than_replicas_uses_distinct_brokers(
    peers: JoinedCluster,
) -> None:
    """The real broker is alone in rack d, which has another turn for each of three replicas."""
    known = {peers.leader, *(peers.join(rack="b").broker_id for _ in range(REPLICAS))}
    broker = peers.broker
    broker.eventually(lambda: set(_racks(broker)) == known, f"the brokers are listed: {known}")
    with requirement("TOPIC-002"):
        _placed(broker)


@judges("META-007")
@needs_broker(
    Use.JOINABLE,
    {"auto.create.topics.enable": "true", "default.replication.factor": "2", "num.partitions": "3"},
)
def test_metadata_auto_creates_topic_with_default_replication_factor(peers: JoinedCluster) -> None:
    """Three partitions with two replicas each: on the real broker and another one."""
    broker, member = peers.broker, peers.join()
    known = {peers.leader, member.broker_id}
    peers.partition([member])  # the oldest brokers list a new broker only with the next topic
    broker.eventually(lambda: set(_racks(broker)) == known, f"the brokers are listed: {known}")
    name = broker.unique_topic()
    broker.delete_later(name)
    asked = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=name)], allow_auto_topic_creation=True
    )
    with requirement("META-007"):
        partitions = broker.last_seen(
            lambda: only(broker.ask(asked).topics, "topic").partitions, lambda seen: len(seen) == 3
        )
        replicas = [sorted(each.replica_nodes) for each in partitions]
        expected = [sorted(known)] * 3
        assert replicas == expected, f"replicas are {replicas}, by default {expected}"


def _placed(broker: BrokerUnderTest) -> list[list[int]]:
    """Return the replicas of a new topic, which must be as many as wanted, and distinct."""
    name = broker.unique_topic()
    _create(broker, name, SPREAD)
    partitions = broker.last_seen(
        lambda: only(broker.metadata([name]).topics, "topic").partitions,
        lambda seen: len(seen) == SPREAD,
    )
    placed = [list(each.replica_nodes) for each in partitions]
    assert [len(set(each)) for each in placed] == [REPLICAS] * SPREAD, f"replicas are {placed}"
    return placed


def _create(broker: BrokerUnderTest, name: str, partitions: int = PARTITIONS) -> None:
    """Create a topic wherever the controller puts its replicas.

    A timeout is fine, as no broker but the real one serves requests.
    """
    wanted = CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=REPLICAS
    )
    broker.delete_later(name)
    answer = broker.ask(CreateTopicsRequest(topics=[wanted], timeout_ms=10_000))
    code = only(answer.topics, "topic").error_code
    if code not in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT):
        raise PreparationFailed(f"CreateTopics: {ErrorCode.describe(code)}", code)


def _racks(broker: BrokerUnderTest) -> dict[int, str | None]:
    return {each.node_id: each.rack for each in broker.metadata([]).brokers}

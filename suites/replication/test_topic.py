"""TOPIC: which brokers get the replicas of a new topic, and how soon all of it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.cluster_topics import creatable
from harness.client.only import only
from harness.client.partition_view import PartitionView
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.replication.support.spread import ring

TIMEOUT_MS = 8_000  # shorter than a test waits for an answer
NAMED_AND_NOT_MADE = 4
"""Below it a topic that Metadata names is made, with as many partitions as the broker likes."""
MANY_PARTITIONS = 40
ABSENT = 1_000_000  # a broker that no cluster has
NOT_YET_THERE = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE)


def _create(
    cluster: Cluster, entry: CreateTopicsRequest.CreatableTopic, version: int, at: int | None = None
) -> int:
    """The error code for the one topic, by the controller unless another node is named."""
    client = cluster.at(cluster.controller() if at is None else at)
    request = CreateTopicsRequest(topics=[entry], timeout_ms=TIMEOUT_MS)
    return only(client.ask(request, version).topics, "topic").error_code


def _created(
    cluster: Cluster, version: int, partitions: int, replication_factor: int
) -> dict[int, PartitionView]:
    """A topic that the broker placed, as it is shown once it is there."""
    name = cluster.unique_topic()
    entry = CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=replication_factor
    )
    expect_error(_create(cluster, entry, version), ErrorCode.NONE, "CreateTopics")
    cluster.last_seen(
        lambda: cluster.topic_by(cluster.up[0], name),
        lambda views: len(views) == partitions and all(view.is_led for view in views.values()),
    )
    return cluster.topic_by(cluster.up[0], name)


@judges("TOPIC-001")
@at_versions("CreateTopics")
def test_create_topics_makes_requested_partitions_and_replicas(
    cluster: Cluster, api_version: int
) -> None:
    """Four partitions with two replicas each."""
    with requirement("TOPIC-001") as check:
        views = _created(cluster, api_version, partitions=4, replication_factor=2)
        assert sorted(views) == [0, 1, 2, 3], f"the partitions are {sorted(views)}"
        for index, view in views.items():
            with check.subtest(f"partition {index}"):
                assert len(set(view.replicas)) == len(view.replicas) == 2, (
                    f"partition {index}: replicas {view.replicas}, wanted are 2 different ones"
                )


@judges("TOPIC-002")
@at_versions("CreateTopics")
def test_create_topics_spreads_leaders_over_brokers(cluster: Cluster, api_version: int) -> None:
    """As many partitions as brokers, each with three replicas: each broker leads one."""
    count = len(cluster.nodes)
    with requirement("TOPIC-002") as check:
        views = _created(cluster, api_version, partitions=count, replication_factor=3)
        for index, view in views.items():
            with check.subtest(f"partition {index}"):
                assert len(set(view.replicas)) == 3, f"partition {index}: replicas {view.replicas}"
        leads = Counter(view.leader for view in views.values())
        assert leads == Counter(cluster.nodes), f"how many each broker leads: {dict(leads)}"


@judges("TOPIC-003")
def test_create_topics_makes_first_assigned_replica_the_leader(cluster: Cluster) -> None:
    """Three assignments, each with another broker in front, and not in the order of ids."""
    one, two, three = cluster.nodes[:3]
    assignment = [[three, one, two], [two, one, three], [one, three, two]]
    name = cluster.unique_topic()
    with requirement("TOPIC-003"):
        cluster.order_topic(name, assignment, {})
        views = cluster.last_seen(
            lambda: cluster.topic_by(cluster.up[0], name),
            lambda views: len(views) == 3 and all(view.is_led for view in views.values()),
        )
        leaders = {index: view.leader for index, view in views.items()}
        assert leaders == {0: three, 1: two, 2: one}, f"{assignment} are led by {leaders}"


@judges("TOPIC-005")
@at_versions("CreateTopics")
def test_create_topics_keeps_manual_assignment_and_order(
    cluster: Cluster, api_version: int
) -> None:
    """Each replica where it was wanted, in that order; the request names the partitions in another
    order."""
    one, two, three = cluster.nodes[:3]
    assignment = [[two, one], [three, two], [one, three]]
    name = cluster.unique_topic()
    entry = creatable(name, assignment)
    entry.assignments = [entry.assignments[index] for index in (1, 2, 0)]
    with requirement("TOPIC-005"):
        code = _create(cluster, entry, api_version)
        expect_error(code, ErrorCode.NONE)
        topic = cluster.await_created(name, len(assignment))
        found = [cluster.replicas(topic, index) for index in range(len(assignment))]
        assert found == assignment, f"the replicas are {found}, wanted were {assignment}"


@judges("TOPIC-010")
@at_versions("CreateTopics")
def test_create_topics_with_replication_factor_2_succeeds(
    cluster: Cluster, api_version: int
) -> None:
    """An even number, and they hold what is written."""
    with requirement("TOPIC-010"):
        name = cluster.unique_topic()
        entry = CreateTopicsRequest.CreatableTopic(
            name=name, num_partitions=1, replication_factor=2
        )
        expect_error(_create(cluster, entry, api_version), ErrorCode.NONE)
        topic = cluster.await_created(name, 1)
        assert len(set(cluster.view(topic).replicas)) == 2, "it has not two replicas"
        client = cluster.leader_client(topic)
        answer = client.produce(topic, batch_of(b"r"))
        expect_error(answer.error_code, ErrorCode.NONE, "Produce, acks=all")


def _bad(cluster: Cluster, form: str) -> list[list[tuple[int, list[int]]]]:
    """Assignments with the fault at the beginning, and behind a partition that is right."""
    one, two, three = cluster.nodes[:3]
    right = (0, [one, two])
    forms: dict[str, list[list[tuple[int, list[int]]]]] = {
        "unequal counts": [[(0, [one, two]), (1, [three])], [(0, [one]), (1, [two, three])]],
        "a broker twice": [[(0, [one, one])], [right, (1, [two, two])]],
        "an unknown broker": [[(0, [one, ABSENT])], [right, (1, [ABSENT, two])]],
        "no replica": [[(0, [])]],
        "a gap in the partitions": [[(0, [one]), (2, [two])], [(1, [one])]],
    }
    return forms[form]


@judges("TOPIC-012")
@at_versions("CreateTopics")
@pytest.mark.parametrize(
    "form",
    [
        "unequal counts",
        "a broker twice",
        "an unknown broker",
        "no replica",
        "a gap in the partitions",
    ],
)
def test_create_topics_with_bad_assignment_returns_invalid_replica_assignment(
    cluster: Cluster, api_version: int, form: str
) -> None:
    """Whatever is wrong with the assignment, the topic is not made, and the next one is."""
    names = {cluster.unique_topic(): assignment for assignment in _bad(cluster, form)}
    good = cluster.unique_topic()
    bad = [_assigned(name, assignment) for name, assignment in names.items()]
    request = CreateTopicsRequest(
        topics=[*bad, creatable(good, [cluster.nodes[:2]])], timeout_ms=TIMEOUT_MS
    )
    with requirement("TOPIC-012") as check:
        answer = cluster.at(cluster.controller()).ask(request, api_version)
        codes = {topic.name: topic.error_code for topic in answer.topics}
        for name, assignment in names.items():
            with check.subtest(f"{assignment}"):
                where = f"{assignment}, {form}"
                expect_error(codes[name], ErrorCode.INVALID_REPLICA_ASSIGNMENT, where)
        expect_error(codes[good], ErrorCode.NONE, "the good one beside them")
        cluster.await_created(good, 1)
        for node in cluster.nodes:
            with check.subtest(f"broker {node}"):
                made = [name for name in names if cluster.topic_by(node, name)]
                assert not made, f"{form}: refused, yet broker {node} has {made}"


def _assigned(
    name: str, assignment: Sequence[tuple[int, list[int]]]
) -> CreateTopicsRequest.CreatableTopic:
    entry = creatable(name, [])
    entry.assignments = [
        CreateTopicsRequest.CreatableReplicaAssignment(partition_index=index, broker_ids=nodes)
        for index, nodes in assignment
    ]
    return entry


@judges("TOPIC-022")
@at_versions("CreateTopics")
def test_create_topics_at_any_broker_succeeds_or_returns_not_controller(
    cluster: Cluster, api_version: int
) -> None:
    """A topic asked of each broker: it is made, or NOT_CONTROLLER is said and it is not."""
    names = {node: cluster.unique_topic() for node in cluster.nodes}
    later = cluster.unique_topic()
    with requirement("TOPIC-022") as check:
        codes = {
            node: _create(cluster, creatable(name, [[node]]), api_version, at=node)
            for node, name in names.items()
        }
        for node, code in codes.items():
            with check.subtest(f"broker {node}"):
                if code != ErrorCode.NOT_CONTROLLER:
                    expect_error(code, ErrorCode.NONE, f"broker {node}")
        assert ErrorCode.NONE in codes.values(), "no broker takes the change"
        cluster.order_topic(later, [[cluster.nodes[0]]], {})
        cluster.await_created(later, 1)
        for node, code in codes.items():
            with check.subtest(f"broker {node}: topic"):
                there = bool(cluster.topic_by(cluster.nodes[0], names[node]))
                expected = code == ErrorCode.NONE
                assert there == expected, (
                    f"broker {node} answered {ErrorCode.describe(code)}; "
                    f"the topic is there: {there}"
                )


@judges("TOPIC-045")
@at_versions("CreatePartitions")
def test_create_partitions_keeps_manual_assignment_and_order(
    cluster: Cluster, api_version: int
) -> None:
    """Two partitions beside one with two replicas, and then a third one."""
    one, two, three = cluster.nodes[:3]
    topic, added = cluster.create_topic([[one, two]]), [[three, two], [one, three], [two, one]]
    client = cluster.at(cluster.controller())
    with requirement("TOPIC-045"):
        code = _grown(client, topic.name, 3, added[:2], api_version)
        expect_error(code, ErrorCode.NONE, "two new partitions")
        cluster.await_created(topic.name, 3)
        code = _grown(client, topic.name, 4, added[2:], api_version)
        expect_error(code, ErrorCode.NONE, "one more")
        cluster.await_created(topic.name, 4)
        found = [cluster.replicas(topic, index) for index in range(1 + len(added))]
        expected = [[one, two], *added]
        assert found == expected, f"the replicas are {found}, wanted were {expected}"


def _grown(
    client: BrokerUnderTest, name: str, count: int, assigned: Sequence[list[int]], version: int
) -> int:
    """Return the error of CreatePartitions with these replicas of the new partitions."""
    kinds = CreatePartitionsRequest
    brokers = [kinds.CreatePartitionsAssignment(broker_ids=nodes) for nodes in assigned]
    topic = kinds.CreatePartitionsTopic(name=name, count=count, assignments=brokers)
    request = kinds(topics=[topic], timeout_ms=TIMEOUT_MS)
    return only(client.ask(request, version).results, "topic").error_code


@judges("TOPIC-023")
@at_versions("CreateTopics")
def test_created_topic_soon_accepts_produce_at_named_leaders(
    cluster: Cluster, api_version: int
) -> None:
    """At each broker that is named leader, for a partition of its own."""
    name, assignment = cluster.unique_topic(), ring(cluster)
    code = _create(cluster, creatable(name, assignment), api_version)
    with requirement("TOPIC-023") as check:
        expect_error(code, ErrorCode.NONE, "CreateTopics")
        for partition in range(len(assignment)):
            with check.subtest(f"partition {partition}"):
                code = cluster.last_seen(
                    partial(_produced, cluster, name, partition),
                    lambda code: code == ErrorCode.NONE,
                )
                expect_error(code, ErrorCode.NONE, f"partition {partition}")


def _produced(cluster: Cluster, name: str, partition: int) -> int:
    """Return the error code of the leader in Metadata; LEADER_NOT_AVAILABLE while it names none."""
    views = cluster.topic_by(cluster.up[0], name)
    if partition not in views or views[partition].leader not in cluster.nodes:
        return int(ErrorCode.LEADER_NOT_AVAILABLE)
    client = cluster.at(views[partition].leader)
    return client.produce(cluster.named(name), batch_of(b"r"), partition=partition).error_code


@judges("TOPIC-026")
@at_versions("CreatePartitions")
@pytest.mark.parametrize(
    "form",
    ["none", "too few", "too many", "other replication", "a broker twice", "an unknown broker"],
)
def test_create_partitions_bad_assignment_returns_invalid_replica_assignment(
    cluster: Cluster, api_version: int, form: str
) -> None:
    """Two partitions are to be added to one with two replicas; it stays as it was."""
    one, two, three = cluster.nodes[:3]
    forms: dict[str, Sequence[list[int]]] = {
        "none": [],
        "too few": [[one, two]],
        "too many": [[one, two], [two, three], [three, one]],
        "other replication": [[one, two], [two]],
        "a broker twice": [[one, two], [two, two]],
        "an unknown broker": [[one, two], [two, ABSENT]],
    }
    topic = cluster.create_topic([[one, two]])
    client = cluster.at(cluster.controller())
    with requirement("TOPIC-026"):
        code = _grown(client, topic.name, 3, forms[form], api_version)
        expect_error(code, ErrorCode.INVALID_REPLICA_ASSIGNMENT, form)
        append(cluster.leader_client(topic), topic, batch_of(b"r"))
        assert len(cluster.topic_by(one, topic.name)) == 1, "partitions were added"


@judges("TOPIC-035")
@at_versions("CreateTopics")
def test_created_topic_is_visible_with_all_partitions_or_not_at_all(
    cluster: Cluster, api_version: int
) -> None:
    """Every broker is asked again and again while a topic of many partitions is made."""
    name = cluster.unique_topic()
    assignment = [list(nodes) for nodes in ring(cluster)] * MANY_PARTITIONS
    request = CreateTopicsRequest(topics=[creatable(name, assignment)], timeout_ms=TIMEOUT_MS)
    creator = cluster.at(cluster.controller()).connect()
    creator.send(request, api_version)
    with requirement("TOPIC-035"):
        cluster.await_that(
            lambda: [_seen_whole(cluster, node, name, len(assignment)) for node in cluster.nodes],
            all,
            f"all brokers show {name}",
        )


def _seen_whole(cluster: Cluster, node: int, name: str, partitions: int) -> bool:
    """True if the broker shows the topic, which it must show with all its partitions."""
    client = cluster.at(node)
    names = [name] if client.version("Metadata") >= NAMED_AND_NOT_MADE else None
    shown = [topic for topic in client.metadata(names).topics if topic.name == name]
    if not shown or (shown[0].error_code in NOT_YET_THERE and not shown[0].partitions):
        return False
    found = len(shown[0].partitions)
    assert found == partitions, f"broker {node} shows {found} of {partitions} partitions"
    return True

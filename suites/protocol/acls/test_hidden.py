"""Topics, groups, transactions and operations, hidden from users without rights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    DescribeClusterRequest,
    DescribeGroupsRequest,
    DescribeTransactionsRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ListGroupsRequest,
    ListTransactionsRequest,
    MetadataRequest,
    OffsetCommitRequest,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.bindings import Binding, bound
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import Principal, ordinary_user
from suites.protocol.support.rights import CLUSTER_NAME, require_authorizer

NO_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
NOT_ASKED = -(2**31)
NOTHING = 0
MISSING = "-missing"
"""The end of the name of a topic that does not exist."""
AUTO_CREATION_SINCE = 4
"""Before this version a client cannot forbid that a topic is created."""


def topics_of(
    asks: Any, names: Sequence[str] | None, version: int, *, creates: bool = False
) -> list[Any]:
    """Return the topics of Metadata, as a user or the run's own sees them."""
    named = None
    if names is not None:
        named = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    allowed = creates or version < AUTO_CREATION_SINCE
    request = MetadataRequest(topics=named, allow_auto_topic_creation=allowed)
    return list(asks.ask(request, version).topics)


@judges("ACL-010")
@at_versions("Metadata", "1+")
def test_a_topic_is_hidden_whether_it_exists_or_not(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """By name both are refused alike, and all topics are those that the user may describe."""
    require_authorizer(broker)
    topic, other = broker.create_topic().name, broker.create_topic().name
    missing = f"{topic}{MISSING}"
    with ordinary_user(broker) as user, requirement("ACL-010") as check:
        with check.subtest("by name"):
            found = {one.name: one for one in topics_of(user, [topic, missing], api_version)}
            assert set(found) == {topic, missing}, f"the topics are {sorted(found)}"
            for name, one in found.items():
                what = "the missing one" if name == missing else "the one that exists"
                expect_error(one.error_code, NO_TOPIC, what)
                assert one.partitions == [], f"{what} has partitions"
                assert one.topic_id == UUID(int=0), f"{what} has a topic id"
        with check.subtest("all"):
            names = {one.name for one in topics_of(user, None, api_version)}
            assert not {topic, other} & names, f"all topics are {sorted(names)}"
        with (
            check.subtest("a right to one"),
            bound(broker, Binding(topic, user.principal, Operation.DESCRIBE)),
        ):
            names = {one.name for one in topics_of(user, None, api_version)}
            assert topic in names, "all topics lack the one that the user may describe"
            assert other not in names, "all topics have another one"
        with check.subtest("a refused creation"):
            topics_of(user, [missing], api_version, creates=True)
            names = {one.name for one in topics_of(broker, None, api_version)}
            assert missing not in names, "the topic was created"


def committed_groups(broker: BrokerUnderTest, topic: str, count: int) -> list[str]:
    """Return groups that exist for their committed offset."""
    made, groups = OffsetCommitRequest, [broker.unique_group() for _ in range(count)]
    part = made.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=""
    )
    topics = [made.OffsetCommitRequestTopic(name=topic, partitions=[part])]
    version = broker.version("OffsetCommit", "2-9")

    def is_committed(group: str) -> bool:
        request = made(
            group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=topics
        )
        answer = broker.ask(request, version)
        return answer.topics[0].partitions[0].error_code == ErrorCode.NONE

    find = broker.version("FindCoordinator", "0-3")
    for group in groups:
        broker.ask(FindCoordinatorRequest(key=group, key_type=0), find)
        broker.eventually(lambda group=group: is_committed(group), f"{group} has an offset")  # type: ignore[misc]
        broker.delete_group_later(group)
    return groups


@judges("ACL-012")
@at_versions("ListGroups", "1+")
def test_groups_are_listed_to_users_that_may_describe_them(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A right to describe the cluster shows all groups."""
    require_authorizer(broker)
    shown, hidden = committed_groups(broker, broker.create_topic().name, 2)
    with ordinary_user(broker) as user, requirement("ACL-012") as check:

        def seen() -> set[str]:
            answer = user.ask(ListGroupsRequest(), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "ListGroups")
            return {group.group_id for group in answer.groups} & {shown, hidden}

        right = Binding(shown, user.principal, Operation.DESCRIBE, resource=Resource.GROUP)
        cases: dict[str, tuple[list[Binding], set[str]]] = {
            "no right": ([], set()),
            "a right to one": ([right], {shown}),
            "the cluster": (
                [right._replace(name=CLUSTER_NAME, resource=Resource.CLUSTER)],
                {shown, hidden},
            ),
        }
        for name, (bindings, expected) in cases.items():
            with check.subtest(name), bound(broker, *bindings):
                found = seen()
                lacking, more = len(expected - found), len(found - expected)
                assert found == expected, f"{name}: {lacking} groups lack, {more} are too many"


def begun_transaction(broker: BrokerUnderTest, topics: Sequence[str]) -> tuple[str, Any]:
    """Return a transactional id with a transaction of one partition of each topic."""
    name = broker.unique_group()
    version = broker.version("InitProducerId", "0-5")
    find = broker.version("FindCoordinator", "1-3")
    broker.ask(FindCoordinatorRequest(key=name, key_type=1), find)
    begin = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000)

    def begun() -> Any:
        answer = broker.ask(begin, version)
        return answer if answer.error_code == ErrorCode.NONE else None

    producer = broker.eventually(begun, f"{name} has a producer id")
    made = AddPartitionsToTxnRequest
    request = made(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.producer_epoch,
        v3_and_below_topics=[
            made.AddPartitionsToTxnTopic(name=topic, partitions=[0]) for topic in topics
        ],
    )
    answer = broker.ask(request, broker.version("AddPartitionsToTxn", "0-3"))
    for result in answer.results_by_topic_v3_and_below:
        code = result.results_by_partition[0].partition_error_code
        expect_error(code, ErrorCode.NONE, "AddPartitionsToTxn")
    return name, producer


def end(broker: BrokerUnderTest, name: str, producer: Any) -> None:
    """Abort the transaction."""
    request = EndTxnRequest(
        transactional_id=name,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        committed=False,
    )
    broker.ask(request, broker.version("EndTxn", "0-4"))


@judges("ACL-012")
@at_versions("ListTransactions")
def test_transactions_are_listed_to_users_that_may_describe_them(
    broker: BrokerUnderTest, api_version: int
) -> None:
    require_authorizer(broker)
    topic = broker.create_topic().name
    (shown, one), (hidden, two) = (begun_transaction(broker, [topic]) for _ in range(2))
    with ordinary_user(broker) as user, requirement("ACL-012") as check:

        def seen() -> set[str]:
            answer = user.ask(ListTransactionsRequest(), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "ListTransactions")
            names = {each.transactional_id for each in answer.transaction_states}
            return names & {shown, hidden}

        with check.subtest("no right"):
            assert seen() == set(), "without a right a transaction is listed"
        right = Binding(
            shown, user.principal, Operation.DESCRIBE, resource=Resource.TRANSACTIONAL_ID
        )
        with check.subtest("a right to one"), bound(broker, right):
            found = seen()
            assert shown in found, "the transaction that the user may describe is not listed"
            assert hidden not in found, "another transaction is listed"
    end(broker, shown, one)
    end(broker, hidden, two)


@judges("ACL-012")
@at_versions("DescribeTransactions")
def test_a_described_transaction_has_the_topics_that_the_user_may_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    require_authorizer(broker)
    shown, hidden = broker.create_topic().name, broker.create_topic().name
    name, producer = begun_transaction(broker, [shown, hidden])
    with ordinary_user(broker) as user, requirement("ACL-012") as check:

        def described() -> Any:
            request = DescribeTransactionsRequest(transactional_ids=[name])
            return user.ask(request, api_version).transaction_states[0]

        with check.subtest("no right"):
            refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            expect_error(described().error_code, refused, "no right")
        right = Binding(
            name, user.principal, Operation.DESCRIBE, resource=Resource.TRANSACTIONAL_ID
        )
        topic = Binding(shown, user.principal, Operation.DESCRIBE)
        with check.subtest("a right to one topic"), bound(broker, right, topic):
            found = described()
            expect_error(found.error_code, ErrorCode.NONE, "with a right")
            names = [each.topic for each in found.topics]
            assert hidden not in names, "a topic without a right is described"
            assert names == [shown], "the topic with a right is not described"
    end(broker, name, producer)


def bits(*operations: Operation) -> int:
    """Return the field of these operations."""
    return sum(1 << operation for operation in operations)


def _rights(user: Principal, topic: str, group: str) -> Mapping[str, Binding]:
    mine = user.principal
    return {
        "topic": Binding(topic, mine, Operation.READ),
        "group": Binding(group, mine, Operation.DELETE, resource=Resource.GROUP),
        "cluster": Binding(CLUSTER_NAME, mine, Operation.ALTER, resource=Resource.CLUSTER),
    }


OF_TOPIC = bits(Operation.READ, Operation.DESCRIBE)
OF_GROUP = bits(Operation.DELETE, Operation.DESCRIBE)
OF_CLUSTER = bits(Operation.ALTER, Operation.DESCRIBE)


def expect_operations(found: int, expected: int, what: str) -> None:
    assert found == expected, f"{what}: the operations are {found:#x}, expected {expected:#x}"


@judges("ACL-013")
@at_versions("Metadata", "8+")
def test_metadata_has_the_operations_of_the_user_on_demand(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of topics, and of the cluster up to v10."""
    require_authorizer(broker)
    topic = broker.create_topic().name
    with ordinary_user(broker) as user, requirement("ACL-013") as check:
        rights = _rights(user, topic, topic)

        def ask(*, asks: bool) -> Any:
            request = MetadataRequest(
                topics=[MetadataRequest.MetadataRequestTopic(name=topic)],
                allow_auto_topic_creation=False,
                include_topic_authorized_operations=asks,
                include_cluster_authorized_operations=asks and api_version <= 10,
            )
            return user.ask(request, api_version)

        with bound(broker, rights["topic"]):
            found, silent = ask(asks=True), ask(asks=False)
            with check.subtest("topic"):
                expect_operations(found.topics[0].topic_authorized_operations, OF_TOPIC, "topic")
                unasked = silent.topics[0].topic_authorized_operations
                expect_operations(unasked, NOT_ASKED, "topic, not asked for")
            if api_version <= 10:
                with check.subtest("cluster without a right"):
                    of_cluster = found.cluster_authorized_operations
                    expect_operations(of_cluster, NOTHING, "cluster without a right")
        if api_version <= 10:
            with check.subtest("cluster"), bound(broker, rights["cluster"]):
                of_cluster = ask(asks=True).cluster_authorized_operations
                expect_operations(of_cluster, OF_CLUSTER, "cluster")


@judges("ACL-013")
@at_versions("DescribeCluster")
def test_describe_cluster_has_the_operations_of_the_user_on_demand(
    broker: BrokerUnderTest, api_version: int
) -> None:
    require_authorizer(broker)
    with ordinary_user(broker) as user, requirement("ACL-013") as check:

        def ask(*, asks: bool = True) -> int:
            request = DescribeClusterRequest(include_cluster_authorized_operations=asks)
            return user.ask(request, api_version).cluster_authorized_operations

        with check.subtest("without a right"):
            expect_operations(ask(), NOTHING, "without a right")
        with bound(broker, _rights(user, "t", "g")["cluster"]):
            with check.subtest("asked for"):
                expect_operations(ask(), OF_CLUSTER, "asked for")
            with check.subtest("not asked for"):
                expect_operations(ask(asks=False), NOT_ASKED, "not asked for")


@judges("ACL-013")
@at_versions("DescribeGroups", "3+")
def test_describe_groups_has_the_operations_of_the_user_on_demand(
    broker: BrokerUnderTest, api_version: int
) -> None:
    require_authorizer(broker)
    (group,) = committed_groups(broker, broker.create_topic().name, 1)
    with ordinary_user(broker) as user, requirement("ACL-013") as check:

        def ask(*, asks: bool) -> int:
            request = DescribeGroupsRequest(groups=[group], include_authorized_operations=asks)
            return user.ask(request, api_version).groups[0].authorized_operations

        with bound(broker, _rights(user, "t", group)["group"]):
            with check.subtest("asked for"):
                expect_operations(ask(asks=True), OF_GROUP, "asked for")
            with check.subtest("not asked for"):
                expect_operations(ask(asks=False), NOT_ASKED, "not asked for")

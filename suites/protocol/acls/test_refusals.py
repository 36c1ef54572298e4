"""The rights that requests need, and the errors without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    AlterClientQuotasRequest,
    CreateAclsRequest,
    DescribeAclsRequest,
    DescribeClientQuotasRequest,
    DescribeGroupsRequest,
    EndTxnRequest,
    FetchRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    JoinGroupRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
    TxnOffsetCommitRequest,
    WriteTxnMarkersRequest,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.acl_terms import ALLOW, ANY, Operation, Resource
from suites.protocol.support.bindings import Binding, bound, creation, listed, removed
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import Principal, ordinary_user
from suites.protocol.support.rights import CLUSTER_NAME, require_authorizer

NO_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_GROUP = ErrorCode.GROUP_AUTHORIZATION_FAILED
NO_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
NO_TRANSACTION = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
Asked = Callable[[Principal, str, int], int]
"""Asks as a user about a name, at a version; returns the error code."""


def produced(user: Principal, topic: str, version: int) -> int:
    made, data = ProduceRequest, encode_batch(RecordBatch(records=[Record(value=b"v")]))
    part = made.PartitionProduceData(index=0, records=data)
    topics = [made.TopicProduceData(name=topic, partition_data=[part])]
    answer = user.ask(made(acks=-1, timeout_ms=10_000, topic_data=topics), version)
    return answer.responses[0].partition_responses[0].error_code


def fetched(user: Principal, topic: str, version: int) -> int:
    made = FetchRequest
    part = made.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1024)
    topics = [made.FetchTopic(topic=topic, partitions=[part])]
    request = made(replica_id=-1, max_bytes=1024, max_wait_ms=1, min_bytes=0, topics=topics)
    return user.ask(request, version).responses[0].partitions[0].error_code


def described(user: Principal, topic: str, version: int) -> int:
    topics = [MetadataRequest.MetadataRequestTopic(name=topic)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=version < 4)
    return user.ask(request, version).topics[0].error_code


def offsets_listed(user: Principal, topic: str, version: int) -> int:
    made = ListOffsetsRequest
    part = made.ListOffsetsPartition(partition_index=0, timestamp=-1, max_num_offsets=1)
    topics = [made.ListOffsetsTopic(name=topic, partitions=[part])]
    return user.ask(made(replica_id=-1, topics=topics), version).topics[0].partitions[0].error_code


def expect_needed(
    broker: BrokerUnderTest, asks: Callable[[], int], wanted: Binding, error: ErrorCode
) -> None:
    """Without the right, and with rights to other operations alone, there is the error."""
    what = Operation(wanted.operation).name
    expect_error(asks(), error, "without a right")
    others = [
        wanted._replace(operation=each)
        for each in (Operation.CREATE, Operation.ALTER_CONFIGS, Operation.CLUSTER_ACTION)
        if each != wanted.operation
    ]
    with bound(broker, *others):
        expect_error(asks(), error, f"with rights to other operations than {what}")
    with bound(broker, wanted):
        found = asks()
        assert found != error, f"with {what} the error is {ErrorCode(found).name}"


def _judge_topic(broker: BrokerUnderTest, version: int, asks: Asked, operation: Operation) -> None:
    require_authorizer(broker)
    topic = broker.create_topic().name
    with ordinary_user(broker) as user, requirement("ACL-006"):
        right = Binding(topic, user.principal, operation)
        expect_needed(broker, lambda: asks(user, topic, version), right, NO_TOPIC)
        with bound(broker, right):
            expect_error(asks(user, topic, version), ErrorCode.NONE, f"with {operation.name}")


@judges("ACL-006")
@at_versions("Produce", "3-12")
def test_produce_needs_the_right_to_write(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_topic(broker, api_version, produced, Operation.WRITE)


@judges("ACL-006")
@at_versions("Fetch", "4-12")
def test_fetch_needs_the_right_to_read(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_topic(broker, api_version, fetched, Operation.READ)


@judges("ACL-006")
@at_versions("Metadata", "1+")
def test_metadata_needs_the_right_to_describe(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_topic(broker, api_version, described, Operation.DESCRIBE)


@judges("ACL-006")
@at_versions("ListOffsets", "1+")
def test_list_offsets_needs_the_right_to_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    _judge_topic(broker, api_version, offsets_listed, Operation.DESCRIBE)


def joined(user: Principal, group: str, version: int) -> int:
    """A member with a session timeout that no group allows: it never joins."""
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=1,
        rebalance_timeout_ms=1,
        member_id="",
        protocol_type="consumer",
        protocols=[protocol],
    )
    return user.ask(request, version).error_code


def committed(user: Principal, group: str, version: int) -> int:
    made = OffsetCommitRequest
    part = made.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=""
    )
    request = made(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[made.OffsetCommitRequestTopic(name=group, partitions=[part])],
    )
    return user.ask(request, version).topics[0].partitions[0].error_code


def offsets_fetched(user: Principal, group: str, version: int) -> int:
    made = OffsetFetchRequest
    if version < 8:
        topics = [made.OffsetFetchRequestTopic(name=group, partition_indexes=[0])]
        return user.ask(made(group_id=group, topics=topics), version).error_code
    groups = [made.OffsetFetchRequestGroup(group_id=group, member_epoch=-1, topics=None)]
    return user.ask(made(groups=groups), version).groups[0].error_code


def group_described(user: Principal, group: str, version: int) -> int:
    return user.ask(DescribeGroupsRequest(groups=[group]), version).groups[0].error_code


def _judge_group(broker: BrokerUnderTest, version: int, asks: Asked, operation: Operation) -> None:
    require_authorizer(broker)
    group = broker.unique_group()
    with ordinary_user(broker) as user, requirement("ACL-007"):
        right = Binding(group, user.principal, operation, resource=Resource.GROUP)
        expect_needed(broker, lambda: asks(user, group, version), right, NO_GROUP)


@judges("ACL-007")
@at_versions("JoinGroup")
def test_join_group_needs_the_right_to_read(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_group(broker, api_version, joined, Operation.READ)


@judges("ACL-007")
@at_versions("OffsetCommit", "2-9")
def test_offset_commit_needs_the_right_to_read(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_group(broker, api_version, committed, Operation.READ)


@judges("ACL-007")
@at_versions("OffsetFetch", "2+")
def test_offset_fetch_needs_the_right_to_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    _judge_group(broker, api_version, offsets_fetched, Operation.DESCRIBE)


@judges("ACL-007")
@at_versions("DescribeGroups")
def test_describe_groups_needs_the_right_to_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    _judge_group(broker, api_version, group_described, Operation.DESCRIBE)


@judges("ACL-008")
@at_versions("CreateAcls", "1+")
def test_requests_about_the_cluster_need_rights_to_it(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A refused CreateAcls creates nothing."""
    require_authorizer(broker)
    stranger = Binding("t", f"User:{broker.unique_topic()}")
    every = DescribeAclsRequest(
        resource_type_filter=ANY, pattern_type_filter=ANY, operation=ANY, permission_type=ANY,
        resource_name_filter=None, principal_filter=stranger.principal, host_filter=None,
    )  # fmt: skip
    quotas = AlterClientQuotasRequest
    entity = [quotas.EntityData(entity_type="user", entity_name="u")]
    quota = quotas.OpData(key="producer_byte_rate", value=1.0, remove=False)
    marker = WriteTxnMarkersRequest.WritableTxnMarker(
        producer_id=1,
        topics=[WriteTxnMarkersRequest.WritableTxnMarkerTopic(name="none", partition_indexes=[0])],
    )
    requests: dict[str, tuple[Any, Operation, Callable[[Any], int]]] = {
        "CreateAcls": (
            CreateAclsRequest(creations=[creation(stranger)]),
            Operation.ALTER,
            lambda answer: answer.results[0].error_code,
        ),
        "DescribeAcls": (every, Operation.DESCRIBE, lambda answer: answer.error_code),
        "AlterClientQuotas": (
            quotas(entries=[quotas.EntryData(entity=entity, ops=[quota])], validate_only=True),
            Operation.ALTER_CONFIGS,
            lambda answer: answer.entries[0].error_code,
        ),
        "DescribeClientQuotas": (
            DescribeClientQuotasRequest(components=[], strict=False),
            Operation.DESCRIBE_CONFIGS,
            lambda answer: answer.error_code,
        ),
        "WriteTxnMarkers": (
            WriteTxnMarkersRequest(markers=[marker]),
            Operation.CLUSTER_ACTION,
            lambda answer: answer.markers[0].topics[0].partitions[0].error_code,
        ),
    }
    with ordinary_user(broker) as user, requirement("ACL-008") as check:
        for name, (request, operation, error_of) in requests.items():
            version = api_version if name == "CreateAcls" else broker.version(name)
            right = Binding(CLUSTER_NAME, user.principal, operation, resource=Resource.CLUSTER)
            with check.subtest(name):
                found = error_of(user.ask(request, version))
                expect_error(found, NO_CLUSTER, f"{name} without a right")
                if name == "CreateAcls":
                    created = listed(broker, principal=stranger.principal)
                    assert not created, f"CreateAcls without a right creates {created}"
                other = right._replace(operation=Operation.IDEMPOTENT_WRITE)
                with bound(broker, other):
                    found = error_of(user.ask(request, version))
                    expect_error(found, NO_CLUSTER, f"{name} with another right")
                with bound(broker, right):
                    found = error_of(user.ask(request, version))
                    assert found != NO_CLUSTER, f"{name} with {operation.name} is refused"
        removed(broker, principal=stranger.principal)


def _transactional(name: str, topic: str) -> dict[str, tuple[Any, str, Callable[[Any], int]]]:
    """Requests of a producer that is unknown to the broker: with the right there is an error too,
    but another one."""
    producer = {"producer_id": 1, "producer_epoch": 0}
    adding, commit = AddPartitionsToTxnRequest, TxnOffsetCommitRequest
    offset = commit.TxnOffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=""
    )
    group = {"transactional_id": name, "group_id": topic, **producer}
    return {
        "AddPartitionsToTxn": (
            adding(
                v3_and_below_transactional_id=name,
                v3_and_below_producer_id=1,
                v3_and_below_topics=[adding.AddPartitionsToTxnTopic(name=topic, partitions=[0])],
            ),
            "0-3",
            lambda answer: (
                answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            ),
        ),
        "AddOffsetsToTxn": (
            AddOffsetsToTxnRequest(**group),  # type: ignore[arg-type]
            "0+",
            lambda answer: answer.error_code,
        ),
        "EndTxn": (
            EndTxnRequest(transactional_id=name, producer_id=1, committed=True),
            "0+",
            lambda answer: answer.error_code,
        ),
        "TxnOffsetCommit": (
            commit(
                topics=[commit.TxnOffsetCommitRequestTopic(name=topic, partitions=[offset])],
                **group,  # type: ignore[arg-type]
            ),
            "0-5",
            lambda answer: answer.topics[0].partitions[0].error_code,
        ),
    }


@judges("ACL-009")
@at_versions("InitProducerId")
def test_transactions_need_the_right_to_write_with_their_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A right to describe it finds its coordinator alone."""
    require_authorizer(broker)
    name, topic = broker.unique_group(), broker.create_topic().name
    begin = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=10_000)
    find = FindCoordinatorRequest(key_type=1, key=name)
    with ordinary_user(broker) as user, requirement("ACL-009") as check:
        write = Binding(
            name, user.principal, Operation.WRITE, ALLOW, resource=Resource.TRANSACTIONAL_ID
        )
        describe = write._replace(operation=Operation.DESCRIBE)
        cases = _transactional(name, topic)
        cases["InitProducerId"] = (begin, "0+", lambda answer: answer.error_code)
        for api, (request, versions, error_of) in cases.items():
            version = api_version if api == "InitProducerId" else broker.version(api, versions)
            with check.subtest(api):
                found = error_of(user.ask(request, version))
                expect_error(found, NO_TRANSACTION, f"{api} without a right")
                with bound(broker, describe):
                    found = error_of(user.ask(request, version))
                    expect_error(found, NO_TRANSACTION, f"{api} with DESCRIBE")
                with bound(broker, write):
                    found = error_of(user.ask(request, version))
                    assert found != NO_TRANSACTION, f"{api} with WRITE is refused"
        with check.subtest("FindCoordinator"):
            found = user.ask(find, broker.version("FindCoordinator", "1-3")).error_code
            expect_error(found, NO_TRANSACTION, "FindCoordinator without a right")
            with bound(broker, describe):
                found = user.ask(find, broker.version("FindCoordinator", "1-3")).error_code
                assert found != NO_TRANSACTION, "FindCoordinator with DESCRIBE is refused"

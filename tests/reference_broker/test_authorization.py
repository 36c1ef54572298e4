"""Requests of a client with and without rights, at a node without sockets."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from harness.base import authorizers
from harness.codec import encode
from harness.codec.apis import APIS, api_named, api_of
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import (
    AlterConfigsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    ProduceRequest,
    RequestHeader,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.records.batch import TRANSACTIONAL
from harness.codec.structs import Struct
from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.authorization.table import FREE, IN_HANDLERS, STEPS
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    NoAnswer,
    PurgatoryWait,
)
from harness.reference_broker.handlers.table import (
    _USERS_HANDLERS,
    CONTROLLER_HANDLERS,
    MEMBER_HANDLERS,
    carried_out,
)
from harness.reference_broker.node import Node, RequestRejected, Response
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.acls.acl import CLUSTER_NAME, Acl, AclPattern, AclPermission
from harness.sweep.requests import harmless_request
from harness.sweep.walk import new_names

ADMIN, ALICE, HOST = "admin", "alice", "10.0.0.1"
ON = {
    authorizers.SETTING: authorizers.STANDARD,
    "super.users": "User:admin",
    "offsets.topic.num.partitions": "1",
    "log.dirs": "/tmp/none",
}
REFUSALS = {29, 30, 31, 53}
TOPIC_CODE, GROUP_CODE, CLUSTER_CODE = 29, 30, 31
Right = tuple[int, int, str]


@pytest.fixture(scope="module")
def empty_node() -> Node:
    return Node(BrokerSettings.of(ON), "localhost", 9092, random.Random(1))


@pytest.fixture
def node() -> Node:
    made = Node(BrokerSettings.of(ON), "localhost", 9092, random.Random(1))
    topic = CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    ask(made, CreateTopicsRequest(topics=[topic]), 7, ADMIN)
    return made


def ask(node: Node, request: Any, version: int, user: str = ALICE) -> Any:
    begun = node.begin(encode_request(request, version, 1, "c"), HOST, user=user)
    assert isinstance(begun, Response), "no request of these tests waits"
    assert begun.parts is not None
    payload = b"".join(bytes(part) for part in begun.parts)
    return decode_response(api_of(type(request)), version, payload)[1]


def give(node: Node, *given: Right) -> None:
    literal, allow = AclPattern.LITERAL, AclPermission.ALLOW
    node.state.change_metadata(
        [
            Acl(resource, name, literal, "User:alice", "*", operation, allow).as_record(
                UUID(int=1000 + at)
            )
            for at, (operation, resource, name) in enumerate(given)
        ],
        0,  # type: ignore[arg-type]
    )


def codes(value: Any) -> Iterator[int]:
    """Every error code of an answer."""
    for field in value.spec.fields:
        found = getattr(value, field.name)
        if field.name == "error_code":
            yield found
        for each in found if isinstance(found, list) else [found]:
            if isinstance(each, Struct):
                yield from codes(each)


def test_each_served_api_has_its_rights() -> None:
    served = {*MEMBER_HANDLERS, *CONTROLLER_HANDLERS, *_USERS_HANDLERS}
    assert served == {*STEPS, *IN_HANDLERS, *FREE}
    assert len(served) == len(STEPS) + len(IN_HANDLERS) + len(FREE)


def produce(*names: str, acks: int = -1, transactional: bool = False) -> ProduceRequest:
    batch = RecordBatch(records=[Record(value=b"v")])
    if transactional:
        batch = replace(
            batch, attributes=TRANSACTIONAL, producer_id=1, producer_epoch=0, base_sequence=0
        )
    made = ProduceRequest
    return made(
        transactional_id="x" if transactional else None,
        acks=acks,
        topic_data=[
            made.TopicProduceData(
                name=name,
                partition_data=[made.PartitionProduceData(index=0, records=encode_batch(batch))],
            )
            for name in names
        ],
    )


def fetch(**more: Any) -> FetchRequest:
    partition = FetchRequest.FetchPartition(partition=0, partition_max_bytes=1000)
    topic = FetchRequest.FetchTopic(topic="t", partitions=[partition])
    return FetchRequest(max_bytes=1000, topics=[topic], **more)


def listed() -> ListOffsetsRequest:
    made = ListOffsetsRequest
    partition = made.ListOffsetsPartition(partition_index=0, timestamp=-1)
    return made(replica_id=-1, topics=[made.ListOffsetsTopic(name="t", partitions=[partition])])


def described(kind: int, name: str) -> DescribeConfigsRequest:
    made = DescribeConfigsRequest
    return made(resources=[made.DescribeConfigsResource(resource_type=kind, resource_name=name)])


def altered(kind: int, name: str) -> AlterConfigsRequest:
    made = AlterConfigsRequest
    return made(resources=[made.AlterConfigsResource(resource_type=kind, resource_name=name)])


IDEMPOTENT = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1)
T, G, C, X = rights.TOPIC, rights.GROUP, rights.CLUSTER, rights.TRANSACTIONAL_ID
NEEDED: list[tuple[Any, int, int, Right]] = [
    (produce("t"), 9, 29, (rights.WRITE, T, "t")),
    (fetch(), 12, 29, (rights.READ, T, "t")),
    (fetch(replica_id=1), 12, 29, (rights.CLUSTER_ACTION, C, CLUSTER_NAME)),
    (listed(), 5, 29, (rights.DESCRIBE, T, "t")),
    (HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 1, 30, (rights.READ, G, "g")),
    (DescribeGroupsRequest(groups=["g"]), 1, 30, (rights.DESCRIBE, G, "g")),
    (FindCoordinatorRequest(key="g"), 3, 30, (rights.DESCRIBE, G, "g")),
    (
        FindCoordinatorRequest(key_type=1, coordinator_keys=["x"]),
        4,
        53,
        (rights.DESCRIBE, X, "x"),
    ),
    (
        InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1),
        4,
        53,
        (rights.WRITE, X, "x"),
    ),
    (IDEMPOTENT, 4, 31, (rights.IDEMPOTENT_WRITE, C, CLUSTER_NAME)),
    (IDEMPOTENT, 4, 31, (rights.WRITE, T, "any")),
    (described(2, "t"), 4, 29, (rights.DESCRIBE_CONFIGS, T, "t")),
    (described(4, "1"), 4, 31, (rights.ALTER_CONFIGS, C, CLUSTER_NAME)),
    (altered(2, "t"), 2, 29, (rights.ALTER_CONFIGS, T, "t")),
    (altered(32, "g"), 2, 30, (rights.ALTER_CONFIGS, G, "g")),
]


@pytest.mark.parametrize(
    ("request_", "version", "code", "right"),
    NEEDED,
    ids=[f"{type(each[0]).__name__}-{each[3][0].name}" for each in NEEDED],  # type: ignore[attr-defined]
)
def test_a_request_needs_its_right(
    node: Node, request_: Any, version: int, code: int, right: Right
) -> None:
    assert code in set(codes(ask(node, request_, version)))
    give(node, right)
    assert not REFUSALS & set(codes(ask(node, request_, version)))


def metadata(names: Sequence[str] | None, *, create: bool = False) -> MetadataRequest:
    named = None if names is None else [MetadataRequest.MetadataRequestTopic(name=n) for n in names]
    return MetadataRequest(topics=named, allow_auto_topic_creation=create)


SERVED = {**MEMBER_HANDLERS, **_USERS_HANDLERS}
EACH_VERSION = [
    (APIS[key].name, version)
    for key, one in SERVED.items()
    for version in range(one.lowest_ever, one.advertised.highest + 1)
]


@pytest.mark.parametrize(("name", "version"), EACH_VERSION)
def test_each_version_has_a_place_for_its_refusal(
    empty_node: Node, name: str, version: int
) -> None:
    """Also those of releases that the broker emulates: what stands beside the error can be sent."""
    request: Any = harmless_request(name, version, new_names())
    key = api_named(name).key
    context = empty_node._context(
        RequestHeader(request_api_key=key, request_api_version=version, client_id="c"), 1, HOST
    )._replace(user=ALICE)
    outcome = carried_out(SERVED[key], request, context)
    if isinstance(outcome, Answer):
        assert encode(outcome.message, version) is not None
    else:
        assert isinstance(outcome, CloseConnection | NoAnswer | PurgatoryWait)


def test_metadata_hides_topics_whether_they_exist_or_not(node: Node) -> None:
    answer = ask(node, metadata(["t", "missing"], create=True), 12)
    assert [(one.name, one.error_code, one.topic_id) for one in answer.topics] == [
        ("t", TOPIC_CODE, UUID(int=0)),
        ("missing", TOPIC_CODE, UUID(int=0)),
    ]
    assert ask(node, metadata(None), 12).topics == []
    assert node.state.cluster.named("missing") is None
    give(node, (rights.DESCRIBE, T, "t"), (rights.DESCRIBE, T, "missing"))
    assert [one.name for one in ask(node, metadata(None), 12).topics] == ["t"]
    found = ask(node, metadata(["t", "missing"], create=True), 12).topics
    assert [one.error_code for one in found] == [ErrorCode.NONE, TOPIC_CODE]
    assert node.state.cluster.named("missing") is None


def test_a_produce_is_carried_out_where_the_client_may_write(node: Node) -> None:
    give(node, (rights.WRITE, T, "t"))
    answer = ask(node, produce("t", "other"), 9)
    found = {one.name: one.partition_responses[0].error_code for one in answer.responses}
    assert found == {"t": ErrorCode.NONE, "other": TOPIC_CODE}
    assert set(codes(ask(node, produce("t", transactional=True), 9))) == {53}
    topic = node.state.cluster.named("t")
    assert topic is not None
    assert topic.partitions[0].log.end_offset == 1


def test_a_refused_topic_closes_a_connection_without_answers(node: Node) -> None:
    give(node, (rights.WRITE, T, "t"))
    version = 9
    allowed = encode_request(produce("t", acks=0), version, 1, "c")
    begun = node.begin(allowed, HOST, user=ALICE)
    assert isinstance(begun, Response)
    assert begun.parts is None
    for names in (["other"], ["t", "other"]):
        with pytest.raises(RequestRejected):
            node.begin(encode_request(produce(*names, acks=0), version, 1, "c"), HOST, user=ALICE)


def test_a_commit_is_refused_by_group_and_then_by_topic(node: Node) -> None:
    made = OffsetCommitRequest
    partition = made.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    request = made(
        group_id="g",
        topics=[
            made.OffsetCommitRequestTopic(name=name, partitions=[partition]) for name in ("t", "u")
        ],
    )
    assert set(codes(ask(node, request, 8))) == {GROUP_CODE}
    give(node, (rights.READ, G, "g"))
    assert set(codes(ask(node, request, 8))) == {TOPIC_CODE}


def test_names_of_ids_are_shown_to_those_that_may_describe_them(node: Node) -> None:
    topic = node.state.cluster.named("t")
    assert topic is not None
    state = DeleteTopicsRequest.DeleteTopicState
    request = DeleteTopicsRequest(topics=[state(name=None, topic_id=topic.topic_id)])
    (refused,) = ask(node, request, 6).responses
    assert (refused.name, refused.error_code) == (None, TOPIC_CODE)
    give(node, (rights.DESCRIBE, T, "t"))
    (refused,) = ask(node, request, 6).responses
    assert (refused.name, refused.error_code) == ("t", TOPIC_CODE)
    missing = DeleteTopicsRequest(topics=[state(name="missing")])
    assert set(codes(ask(node, missing, 6))) == {TOPIC_CODE}
    give(node, (rights.DESCRIBE, T, "missing"))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert set(codes(ask(node, missing, 6))) == {unknown}


def test_operations_are_those_that_the_client_may_do(node: Node) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    assert ask(node, request, 0).cluster_authorized_operations == 0
    give(node, (rights.ALTER, C, CLUSTER_NAME))
    expected = 1 << rights.ALTER | 1 << rights.DESCRIBE
    assert ask(node, request, 0).cluster_authorized_operations == expected
    assert ask(node, request, 0, ADMIN).cluster_authorized_operations == 0b1111110100000


def test_only_the_first_batch_shows_that_records_are_of_a_transaction(node: Node) -> None:
    """Behind it, in bytes that are no whole batch, nothing counts (RequestUtils, flag)."""
    (of_transaction,) = produce("t", transactional=True).topic_data[0].partition_data
    (plain,) = produce("t").topic_data[0].partition_data
    first, second = bytes(plain.records or b""), bytes(of_transaction.records or b"")
    too_short = second[:8] + (10).to_bytes(4) + second[12:]
    for records in (first + second, second[:-1], too_short, second[:20], b""):
        request = produce("t")
        request.topic_data[0].partition_data[0].records = records
        assert set(codes(ask(node, request, 9))) == {TOPIC_CODE}
    request.topic_data[0].partition_data[0].records = second + first
    assert set(codes(ask(node, request, 9))) == {ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}


def test_refused_records_of_a_transaction_have_one_result_a_partition(node: Node) -> None:
    request = produce("t", "u", "t", "t", transactional=True)
    request.topic_data[1].partition_data = []
    request.topic_data[3].partition_data[0].index = 1
    answer = ask(node, request, 9)
    found = {
        topic.name: [(one.index, one.error_code) for one in topic.partition_responses]
        for topic in answer.responses
    }
    refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert len(answer.responses) == 1
    assert found == {"t": [(0, refused), (1, refused)]}

"""The refusals of the run's user: the right that each of them names."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest

from harness.client.user_watch import UserFrames, UserWatch
from harness.client.waiting import last_seen
from harness.codec import messages as m
from harness.codec.error_code import ErrorCode
from harness.codec.header import encode_request, encode_response
from harness.codec.structs import Message
from harness.conformance.missing_rights import MissingRight, RightRefused
from harness.runner.refusals import Refusals, operation_of
from suites.protocol.support.permissions.matrix import Row, rows

E = ErrorCode
PREFIX = "kc-"
LONG_MS = 3_600_000.0
BY_BROKERS = MissingRight("CLUSTER_ACTION", "cluster", "kafka-cluster")
SEVERAL_FORMS = {
    ("Fetch", "error_code"): "READ",
    ("Metadata", "error_code"): "DESCRIBE",
    ("CreateTopics", "error_code"): "CREATE",
    ("CreateTopics", "topic_config_error_code"): "DESCRIBE_CONFIGS",
    ("DescribeConfigs", "error_code"): "DESCRIBE_CONFIGS",
    ("DescribeTransactions", "error_code"): "DESCRIBE",
    ("InitProducerId/two_phases", "error_code"): "WRITE",
    ("WriteTxnMarkers", "error_code"): "CLUSTER_ACTION",
}
"""The least operation, where others include it or a form of the request needs more."""


def watched(
    *exchange: tuple[Message, Message, int], areas: Sequence[str] = ()
) -> list[RightRefused]:
    """The refusals of a connection with these requests, their answers and versions."""
    refusals = Refusals(PREFIX, areas)
    connection = refusals.new_connection()
    for number, (request, _, version) in enumerate(exchange):
        connection.sent(encode_request(request, version, number))
    for number, (_, answer, version) in enumerate(exchange):
        connection.received(encode_response(answer, version, number))
    assert refusals.count == len(refusals.found)
    return refusals.found


def seen(*exchange: tuple[Message, Message, int], areas: Sequence[str] = ()) -> list[MissingRight]:
    """The rights that the same show to be missing."""
    return [one.right for one in watched(*exchange, areas=areas)]


def produced(error: ErrorCode, name: str = "kc-1") -> m.ProduceResponse:
    partition = m.ProduceResponse.PartitionProduceResponse(error_code=error)
    topic = m.ProduceResponse.TopicProduceResponse(name=name, partition_responses=[partition])
    return m.ProduceResponse(responses=[topic])


def shown(error: ErrorCode, name: str | None = "kc-1") -> m.MetadataResponse:
    topic = m.MetadataResponse.MetadataResponseTopic(name=name, error_code=error)
    return m.MetadataResponse(topics=[topic])


PRODUCE = m.ProduceRequest(acks=-1)
NO_CREATION = m.MetadataRequest(topics=[], allow_auto_topic_creation=False)


@pytest.mark.parametrize(
    ("request_", "answer", "version", "right"),
    [
        (PRODUCE, produced(E.TOPIC_AUTHORIZATION_FAILED), 9, ("WRITE", "topic", "kc-*")),
        (PRODUCE, produced(E.TOPIC_AUTHORIZATION_FAILED, "other"), 9, ("WRITE", "topic", "other")),
        (
            NO_CREATION,
            shown(E.TOPIC_AUTHORIZATION_FAILED, None),
            12,
            ("DESCRIBE", "topic", "kc-*"),
        ),
        (NO_CREATION, shown(E.TOPIC_AUTHORIZATION_FAILED, ""), 9, ("DESCRIBE", "topic", '""')),
        (
            m.HeartbeatRequest(group_id="kc-2"),
            m.HeartbeatResponse(error_code=E.GROUP_AUTHORIZATION_FAILED),
            4,
            ("READ", "group", "kc-*"),
        ),
        (
            m.HeartbeatRequest(group_id="another group"),
            m.HeartbeatResponse(error_code=E.GROUP_AUTHORIZATION_FAILED),
            4,
            ("READ", "group", "another group"),
        ),
        (
            m.HeartbeatRequest(group_id="KC-2"),
            m.HeartbeatResponse(error_code=E.GROUP_AUTHORIZATION_FAILED),
            4,
            ("READ", "group", "KC-*"),
        ),
        (
            m.DescribeAclsRequest(),
            m.DescribeAclsResponse(error_code=E.CLUSTER_AUTHORIZATION_FAILED),
            3,
            ("DESCRIBE", "cluster", "kafka-cluster"),
        ),
        (
            m.VoteRequest(),
            m.VoteResponse(error_code=E.CLUSTER_AUTHORIZATION_FAILED),
            0,
            ("CLUSTER_ACTION", "cluster", "kafka-cluster"),
        ),
    ],
)
def test_a_refusal_names_operation_resource_and_name(
    request_: Message, answer: Message, version: int, right: tuple[str, str, str]
) -> None:
    assert seen((request_, answer, version)) == [MissingRight(*right)]


def test_other_errors_are_no_refusals() -> None:
    for error in (E.NONE, E.UNKNOWN_TOPIC_OR_PARTITION):
        assert not seen((PRODUCE, produced(error), 9))


def test_a_request_of_another_form_has_its_refusal_too() -> None:
    """The body breaks off; an answer to nothing, and one that breaks off, say nothing."""
    refusals = Refusals(PREFIX)
    connection = refusals.new_connection()
    connection.sent(encode_request(NO_CREATION, 9, 7)[:-2])
    answer = encode_response(shown(E.TOPIC_AUTHORIZATION_FAILED), 9, 7)
    connection.received(answer[:-1])
    assert not refusals.found
    connection.received(answer)
    assert not refusals.found
    connection.sent(encode_request(NO_CREATION, 9, 7)[:-2])
    connection.received(answer)
    assert [one.right.operation for one in refusals.found] == ["DESCRIBE"]


def test_a_request_that_may_create_topics_needs_that_right() -> None:
    creating = m.MetadataRequest(topics=[], allow_auto_topic_creation=True)
    answer = shown(E.TOPIC_AUTHORIZATION_FAILED)
    for request, version, operation in (
        (creating, 4, "CREATE"),
        (NO_CREATION, 4, "DESCRIBE"),
        (creating, 3, "DESCRIBE"),
    ):
        (found,) = seen((request, answer, version))
        assert found.operation == operation


def test_log_directories_are_refused_without_an_error_before_version_3() -> None:
    """By an answer without any, which every broker that is asked has."""
    request, nothing = m.DescribeLogDirsRequest(topics=[]), m.DescribeLogDirsResponse()
    one = m.DescribeLogDirsResponse.DescribeLogDirsResult(log_dir="/logs")
    needed = [MissingRight("DESCRIBE", "cluster", "kafka-cluster")]
    for version in (0, 1, 2):
        assert seen((request, nothing, version)) == needed
        assert not seen((request, m.DescribeLogDirsResponse(results=[one]), version))
    assert not seen((request, nothing, 3))
    refused = m.DescribeLogDirsResponse(error_code=E.CLUSTER_AUTHORIZATION_FAILED)
    assert seen((request, refused, 3)) == needed


def test_records_of_a_transaction_without_an_id_lack_no_right() -> None:
    answer = produced(E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    assert not seen((PRODUCE, answer, 9))
    named = m.ProduceRequest(transactional_id="kc-2", acks=-1)
    assert seen((named, answer, 9)) == [MissingRight("WRITE", "transactional-id", "kc-*")]


def test_no_right_adds_an_internal_topic_to_a_transaction() -> None:
    request = m.AddPartitionsToTxnRequest(v3_and_below_transactional_id="kc-2")

    def added(name: str) -> m.AddPartitionsToTxnResponse:
        response = m.AddPartitionsToTxnResponse
        refused = response.AddPartitionsToTxnPartitionResult(
            partition_error_code=E.TOPIC_AUTHORIZATION_FAILED
        )
        topic = response.AddPartitionsToTxnTopicResult(name=name, results_by_partition=[refused])
        return response(results_by_topic_v3_and_below=[topic])

    assert not seen((request, added("__consumer_offsets"), 3))
    assert seen((request, added("other"), 3)) == [MissingRight("WRITE", "topic", "other")]


def test_two_phases_need_their_own_right_and_that_to_write() -> None:
    """The answer has one error for both; a transaction without two phases shows the right to write.

    An idempotent producer, which has no transactional id, shows nothing.
    """
    refused = m.InitProducerIdResponse(error_code=E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    two_phases = m.InitProducerIdRequest(transactional_id="kc-1", enable2_pc=True), refused, 6
    begun = m.InitProducerIdRequest(transactional_id="kc-2"), m.InitProducerIdResponse(), 6
    idempotent = m.InitProducerIdRequest(transactional_id=None), m.InitProducerIdResponse(), 6
    write, own = (
        MissingRight(operation, "transactional-id", "kc-*")
        for operation in ("WRITE", "TWO_PHASE_COMMIT")
    )
    assert seen(two_phases) == [write, own]
    assert seen(idempotent, two_phases) == [write, own]
    assert seen(begun, two_phases) == [own]
    without = m.InitProducerIdRequest(transactional_id="kc-1"), refused, 6
    assert seen(begun, without) == [write]


def test_areas_of_refusals_lack_rights_to_the_cluster_alone() -> None:
    denied = m.CreateAclsResponse.AclCreationResult(error_code=E.CLUSTER_AUTHORIZATION_FAILED)
    exchange = (
        (NO_CREATION, shown(E.TOPIC_AUTHORIZATION_FAILED), 9),
        (m.CreateAclsRequest(), m.CreateAclsResponse(results=[denied]), 3),
    )
    for area in ("ACL", "AUTHZ"):
        assert seen(*exchange, areas=[area]) == [MissingRight("ALTER", "cluster", "kafka-cluster")]
    assert len(seen(*exchange, areas=["META"])) == 2


def test_configs_that_creation_leaves_out_concern_that_api_alone() -> None:
    topic = m.CreateTopicsResponse.CreatableTopicResult(
        name="kc-1", topic_config_error_code=E.TOPIC_AUTHORIZATION_FAILED
    )
    answer = m.CreateTopicsResponse(topics=[topic])
    (found,) = watched((m.CreateTopicsRequest(), answer, 7))
    assert found.right.operation == "DESCRIBE_CONFIGS"
    assert found.only_api == 19


def test_a_replica_needs_the_right_of_brokers() -> None:
    partition = m.FetchResponse.PartitionData(error_code=E.TOPIC_AUTHORIZATION_FAILED)
    topic = m.FetchResponse.FetchableTopicResponse(
        topic="kc-1", topic_id=UUID(int=7), partitions=[partition]
    )
    answer = m.FetchResponse(responses=[topic])
    state = m.FetchRequest.ReplicaState(replica_id=1)
    for request, version, right in (
        (m.FetchRequest(replica_id=1), 11, BY_BROKERS),
        (m.FetchRequest(replica_state=state), 15, BY_BROKERS),
        (m.FetchRequest(), 11, MissingRight("READ", "topic", "kc-*")),
        (m.FetchRequest(), 15, MissingRight("READ", "topic", "kc-*")),
    ):
        assert seen((request, answer, version)) == [right]


@pytest.mark.parametrize("row", rows().values(), ids=lambda row: row.requirement)
def test_the_operations_are_those_of_the_permission_matrix(row: Row) -> None:
    """Of the rights that serve the request, those to the kind of resource that the error names."""
    for line in row.lines:
        for error in line.answer.split("|"):
            if not error.endswith("AUTHORIZATION_FAILED"):
                continue
            field = line.place.split(".")[-1]
            operation = operation_of(row.api, ErrorCode[error], field)
            several = SEVERAL_FORMS.get((row.form, field)) or SEVERAL_FORMS.get((row.api, field))
            assert operation == (several or _only(_served(row, error))), (line, operation)


def _served(row: Row, error: str) -> set[str]:
    kind = error.removesuffix("_AUTHORIZATION_FAILED").lower().replace("_", "-")
    kind = "user" if kind == "delegation-token" else kind
    return {
        right.split()[0]
        for line in row.lines
        if not line.refuses and not line.answer.startswith("operations")
        for right in line.held.split(", ")
        if right.split()[-1].removeprefix("new-") == kind
    }


def _only(found: set[str]) -> str:
    (one,) = found
    return one


class RefusedAtEachLook:
    """A watch that has seen one more refusal at each look."""

    def __init__(self) -> None:
        self.count = 0

    def new_connection(self) -> UserFrames:
        raise NotImplementedError

    def look(self) -> int:
        self.count += 1
        return self.count


def test_a_wait_for_what_is_refused_ends_before_its_time() -> None:
    """The time of the wait is one that the test itself would not survive."""
    watch = RefusedAtEachLook()
    as_watch: UserWatch = watch
    assert last_seen(watch.look, lambda _: False, LONG_MS, as_watch) > 1

"""The refusals of the run's user: the right that each of them names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.client.user_watch import UserWatch
from harness.client.waiting import last_seen
from harness.client.wire_coverage import Observer
from harness.codec import messages as m
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.conformance.missing_rights import MissingRight
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
    ("WriteTxnMarkers", "error_code"): "CLUSTER_ACTION",
}
"""The least operation, where others include it or a form of the request needs more."""


def seen(*exchange: tuple[Message, int], areas: Sequence[str] = ()) -> list[MissingRight]:
    """The rights that messages of one connection show to be missing."""
    refusals = Refusals(PREFIX, areas)
    observe = refusals.beside(None)
    for message, version in exchange:
        observe(message, version)
    return [one.right for one in refusals.found]


def produced(error: ErrorCode, name: str = "kc-1") -> m.ProduceResponse:
    partition = m.ProduceResponse.PartitionProduceResponse(error_code=error)
    topic = m.ProduceResponse.TopicProduceResponse(name=name, partition_responses=[partition])
    return m.ProduceResponse(responses=[topic])


def shown(error: ErrorCode, name: str | None = "kc-1") -> m.MetadataResponse:
    topic = m.MetadataResponse.MetadataResponseTopic(name=name, error_code=error)
    return m.MetadataResponse(topics=[topic])


def transactional_id_of(transactional_id: str | None) -> m.ProduceRequest:
    return m.ProduceRequest(transactional_id=transactional_id, acks=-1)


@pytest.mark.parametrize(
    ("message", "right"),
    [
        (produced(E.TOPIC_AUTHORIZATION_FAILED), ("WRITE", "topic", "kc-*")),
        (produced(E.TOPIC_AUTHORIZATION_FAILED, "other"), ("WRITE", "topic", "other")),
        (shown(E.TOPIC_AUTHORIZATION_FAILED, None), ("DESCRIBE", "topic", "kc-*")),
        (shown(E.TOPIC_AUTHORIZATION_FAILED, ""), ("DESCRIBE", "topic", '""')),
        (m.HeartbeatResponse(error_code=E.GROUP_AUTHORIZATION_FAILED), ("READ", "group", "kc-*")),
        (
            m.DescribeAclsResponse(error_code=E.CLUSTER_AUTHORIZATION_FAILED),
            ("DESCRIBE", "cluster", "kafka-cluster"),
        ),
        (
            m.VoteResponse(error_code=E.CLUSTER_AUTHORIZATION_FAILED),
            ("CLUSTER_ACTION", "cluster", "kafka-cluster"),
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Message) else " ".join(value),
)
def test_a_refusal_names_operation_resource_and_name(
    message: Message, right: tuple[str, str, str]
) -> None:
    assert seen((message, 0)) == [MissingRight(*right)]


def test_a_name_that_only_the_request_has_is_found() -> None:
    request = m.HeartbeatRequest(group_id="another group")
    answer = m.HeartbeatResponse(error_code=E.GROUP_AUTHORIZATION_FAILED)
    assert seen((request, 0), (answer, 0)) == [MissingRight("READ", "group", "another group")]


def test_other_errors_are_no_refusals() -> None:
    assert not seen((produced(E.NONE), 9), (produced(E.UNKNOWN_TOPIC_OR_PARTITION), 9))


def test_a_request_that_may_create_topics_needs_that_right() -> None:
    for may, version, operation in (
        (True, 4, "CREATE"),
        (False, 4, "DESCRIBE"),
        (True, 3, "DESCRIBE"),
    ):
        request = m.MetadataRequest(topics=[], allow_auto_topic_creation=may)
        answer = shown(E.TOPIC_AUTHORIZATION_FAILED)
        (found,) = seen((request, version), (answer, version))
        assert found.operation == operation


def test_records_of_a_transaction_without_an_id_lack_no_right() -> None:
    answer = produced(E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    assert not seen((transactional_id_of(None), 9), (answer, 9))
    found = seen((transactional_id_of("kc-2"), 9), (answer, 9))
    assert found == [MissingRight("WRITE", "transactional-id", "kc-*")]


def test_no_right_adds_an_internal_topic_to_a_transaction() -> None:
    def added(name: str) -> m.AddPartitionsToTxnResponse:
        response = m.AddPartitionsToTxnResponse
        refused = response.AddPartitionsToTxnPartitionResult(
            partition_error_code=E.TOPIC_AUTHORIZATION_FAILED
        )
        topic = response.AddPartitionsToTxnTopicResult(name=name, results_by_partition=[refused])
        return response(results_by_topic_v3_and_below=[topic])

    assert not seen((added("__consumer_offsets"), 3))
    assert seen((added("other"), 3)) == [MissingRight("WRITE", "topic", "other")]


def test_areas_of_refusals_lack_rights_to_the_cluster_alone() -> None:
    denied = m.CreateAclsResponse.AclCreationResult(error_code=E.CLUSTER_AUTHORIZATION_FAILED)
    answers = (
        (shown(E.TOPIC_AUTHORIZATION_FAILED), 9),
        (m.CreateAclsResponse(results=[denied]), 3),
    )
    for area in ("ACL", "AUTHZ"):
        assert seen(*answers, areas=[area]) == [MissingRight("ALTER", "cluster", "kafka-cluster")]
    assert len(seen(*answers, areas=["META"])) == 2


def test_configs_that_creation_leaves_out_concern_that_api_alone() -> None:
    topic = m.CreateTopicsResponse.CreatableTopicResult(
        name="kc-1", topic_config_error_code=E.TOPIC_AUTHORIZATION_FAILED
    )
    refusals = Refusals(PREFIX)
    refusals.beside(None)(m.CreateTopicsResponse(topics=[topic]), 7)
    (found,) = refusals.found
    assert found.right.operation == "DESCRIBE_CONFIGS"
    assert found.only_api == 19


def test_a_replica_needs_the_right_of_brokers() -> None:
    partition = m.FetchResponse.PartitionData(error_code=E.TOPIC_AUTHORIZATION_FAILED)
    topic = m.FetchResponse.FetchableTopicResponse(topic="kc-1", partitions=[partition])
    answer = m.FetchResponse(responses=[topic])
    state = m.FetchRequest.ReplicaState(replica_id=1)
    for request, right in (
        (m.FetchRequest(replica_id=1), BY_BROKERS),
        (m.FetchRequest(replica_state=state), BY_BROKERS),
        (m.FetchRequest(), MissingRight("READ", "topic", "kc-*")),
    ):
        assert seen((request, 11), (answer, 11)) == [right]


@pytest.mark.parametrize("row", rows().values(), ids=lambda row: row.requirement)
def test_the_operations_are_those_of_the_permission_matrix(row: Row) -> None:
    """Of the rights that serve the request, those to the kind of resource that the error names."""
    for line in row.lines:
        for error in line.answer.split("|"):
            if not error.endswith("AUTHORIZATION_FAILED"):
                continue
            field = line.place.split(".")[-1]
            operation = operation_of(row.api, ErrorCode[error], field)
            several = SEVERAL_FORMS.get((row.api, field))
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

    def beside(self, observer: Observer | None) -> Observer:
        raise NotImplementedError

    def look(self) -> int:
        self.count += 1
        return self.count


def test_a_wait_for_what_is_refused_ends_before_its_time() -> None:
    """The time of the wait is one that the test itself would not survive."""
    watch = RefusedAtEachLook()
    as_watch: UserWatch = watch
    assert last_seen(watch.look, lambda _: False, LONG_MS, as_watch) > 1

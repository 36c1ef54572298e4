"""TXN: requests of transactions that every coordinator refuses (KIP-98, KIP-588, KIP-890)."""

from __future__ import annotations

from collections.abc import Callable

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import TRANSACTION, coordinated_name
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AddPartitionsToTxnRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import (
    Place,
    commit,
    entry,
    expect_codes,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.protocol.support.transactional import TxnProducer, codes_by_place, fenced_code
from suites.protocol.support.transactional_offsets import add_offsets

ONE_TRANSACTION, SEVERAL = ("0-1", "2", "3"), "4+"  # of AddPartitionsToTxn
BY_CLIENTS = ("0-1", "2-3")  # of AddPartitionsToTxn: those that clients use (KIP-890)
COMMITTED = 5
UNMAPPED = ErrorCode.INVALID_PRODUCER_ID_MAPPING


def _expect_no_transaction(producer: TxnProducer, where: str) -> None:
    code = producer.end(commit=True).error_code
    expect_error(code, ErrorCode.INVALID_TXN_STATE, f"{where}: commit without a transaction")


@judges("TXN-049")
@at_versions("AddOffsetsToTxn", "0-1", "2", "3+")
def test_add_offsets_with_wrong_identity_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An unknown id, producer ids of another id and of none, an epoch below and one above.

    A refusal begins no transaction; the right identity then adds the group, also twice.
    """
    producer, elsewhere = (TxnProducer(broker, "TXN-049") for _ in range(2))
    producer.take(producer.init())
    topic = broker.create_topic()
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED)]})
    fenced = fenced_code("AddOffsetsToTxn", api_version)
    unknown = coordinated_name(broker, TRANSACTION)
    with requirement("TXN-049") as check:
        for where, other, code in (
            ("an unknown id", producer.other(name=unknown), UNMAPPED),
            ("a producer id of another id", producer.other(id_=elsewhere.id), UNMAPPED),
            ("a producer id of no producer", producer.other(id_=producer.id + 10**9), UNMAPPED),
            ("the epoch before", producer.other(epoch=0), fenced),
            ("an epoch to come", producer.other(epoch=2), fenced),
        ):
            with check.subtest(where):
                expect_error(add_offsets(other, group, api_version), code, where)
        with check.subtest("afterwards"):
            _expect_no_transaction(producer, "after the refusals")
            for where in ("the right identity", "the right identity again"):
                expect_error(add_offsets(producer, group, api_version), ErrorCode.NONE, where)
            fetch_offsets(broker, group, {topic: [0]}).expect(topic, COMMITTED, where="still open")
            expect_error(producer.end(commit=True).error_code, ErrorCode.NONE, "the commit")


def _expect_refusal(
    broker: BrokerUnderTest, client_id: str, ask: Callable[[TxnProducer, Topic], int]
) -> None:
    """The request of a producer with the empty id is INVALID_REQUEST, that of its own id is not."""
    producer, topic = TxnProducer(broker, client_id), broker.create_topic()
    producer.begin({topic: [0]})
    code = ask(producer.other(name=""), topic)
    expect_error(code, ErrorCode.INVALID_REQUEST, "an empty transactional id")
    expect_error(ask(producer, topic), ErrorCode.NONE, "a transactional id")


@judges("TXN-050")
@at_versions("AddPartitionsToTxn", *ONE_TRANSACTION, SEVERAL)
def test_add_partitions_with_empty_transactional_id_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Beside the id of the same producer, which is accepted."""
    with requirement("TXN-050"):
        _expect_refusal(
            broker,
            "TXN-050",
            lambda producer, topic: producer.add({topic: [0]}, api_version)[topic.name, 0],
        )


@judges("TXN-050")
@at_versions("AddOffsetsToTxn", "0-2", "3+")
def test_add_offsets_with_empty_transactional_id_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Beside the id of the same producer, which is accepted."""
    group = fresh_group(broker, broker.create_topic())
    with requirement("TXN-050"):
        _expect_refusal(
            broker, "TXN-050", lambda producer, _: add_offsets(producer, group, api_version)
        )


@judges("TXN-050")
@at_versions("EndTxn", "0-2", "3-4")
def test_end_txn_with_empty_transactional_id_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Beside the id of the same producer, which is accepted."""
    with requirement("TXN-050"):
        _expect_refusal(
            broker,
            "TXN-050",
            lambda producer, _: producer.end(commit=True, version=api_version).error_code,
        )


@judges("TXN-051")
@at_versions("AddPartitionsToTxn", *BY_CLIENTS)
def test_client_adds_no_internal_topic_to_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partition 0 of the offsets topic beside a good one, which is not attempted, and alone."""
    producer, topic = TxnProducer(broker, "TXN-051"), broker.create_topic()
    fresh_group(broker, topic)  # the internal topic is there
    internal = Topic(OFFSETS_TOPIC)
    refused: dict[Place, ErrorCode] = {
        (OFFSETS_TOPIC, 0): ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    }
    left_out: dict[Place, ErrorCode] = {(topic.name, 0): ErrorCode.OPERATION_NOT_ATTEMPTED}
    with requirement("TXN-051") as check:
        with check.subtest("beside a good one"):
            found = producer.add({topic: [0], internal: [0]}, api_version)
            expect_codes(found, {**refused, **left_out}, "beside a good one")
        with check.subtest("alone"):
            found = producer.add({internal: [0]}, api_version)
            expect_codes(found, refused, "alone")
        with check.subtest("afterwards"):
            _expect_no_transaction(producer, "after the refusals")
            found = producer.add({topic: [0]}, api_version)
            expect_codes(found, {(topic.name, 0): ErrorCode.NONE}, "a good one alone")


@judges("TXN-052")
@at_versions("AddPartitionsToTxn", SEVERAL)
def test_verification_adds_nothing_and_shows_partitions_of_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two transactions in one request, one of them open with partition 0 of three.

    The partitions that it lacks are TRANSACTION_ABORTABLE, and stay so when it is asked again.
    """
    open_, empty = (TxnProducer(broker, "TXN-052") for _ in range(2))
    topic = broker.create_topic(partitions=3)
    open_.begin({topic: [0]})
    transactions = []
    for producer in (open_, empty):
        request = producer.add_request({topic: [0, 1]}, api_version)
        transactions += request.transactions
        transactions[-1].verify_only = True
    both = AddPartitionsToTxnRequest(transactions=transactions)
    lacks = ErrorCode.TRANSACTION_ABORTABLE
    with requirement("TXN-052") as check:
        for where in ("first", "again"):
            with check.subtest(where):
                answer = open_.patiently(
                    both, api_version, lambda one: codes_by_place(one).values()
                )
                expect_error(answer.error_code, ErrorCode.NONE, where)
                found = {
                    one.transactional_id: {
                        part.partition_index: part.partition_error_code
                        for each in one.topic_results
                        for part in each.results_by_partition
                    }
                    for one in answer.results_by_transaction
                }
                expected = {
                    open_.name: {0: ErrorCode.NONE, 1: lacks},
                    empty.name: {0: lacks, 1: lacks},
                }
                told = f"{where}: the errors by transaction and partition are {found}"
                assert found == expected, told
        with check.subtest("afterwards"):
            _expect_no_transaction(empty, "after the verification")

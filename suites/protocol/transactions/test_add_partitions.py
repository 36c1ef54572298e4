"""TXN: AddPartitionsToTxn begins a transaction and adds partitions to it (KIP-98)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import TRANSACTION, coordinated_name
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import Place, expect_codes
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import markers_of
from suites.protocol.support.transactional import TxnProducer, fenced_code

VERSIONS = ("0-1", "2", "3", "4+")  # PRODUCER_FENCED from v2 on, several transactions from v4 on
FAR_PARTITION = 77
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _all(topic: Topic, count: int, code: ErrorCode) -> dict[Place, ErrorCode]:
    return {(topic.name, index): code for index in range(count)}


def _expect_no_transaction(producer: TxnProducer, where: str) -> None:
    """No transaction is open: there is none to commit."""
    code = producer.end(commit=True).error_code
    expect_error(code, ErrorCode.INVALID_TXN_STATE, f"{where}: commit without a transaction")


@judges("TXN-008")
@at_versions("AddPartitionsToTxn", *VERSIONS)
def test_add_partitions_with_wrong_identity_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An unknown id, producer ids of another id and of none, an epoch below and one above.

    A refusal begins no transaction; the right identity then begins one.
    """
    producer, elsewhere = (TxnProducer(broker, "TXN-008") for _ in range(2))
    producer.take(producer.init())
    topic = broker.create_topic(partitions=2)
    unmapped = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    fenced = fenced_code("AddPartitionsToTxn", api_version)
    unknown = coordinated_name(broker, TRANSACTION)
    with requirement("TXN-008") as check:
        for where, other, code in (
            ("an unknown id", producer.other(name=unknown), unmapped),
            ("a producer id of another id", producer.other(id_=elsewhere.id), unmapped),
            ("a producer id of no producer", producer.other(id_=producer.id + 10**9), unmapped),
            ("wrong id and epoch", producer.other(id_=elsewhere.id, epoch=0), unmapped),
            ("the epoch before", producer.other(epoch=0), fenced),
            ("an epoch to come", producer.other(epoch=2), fenced),
        ):
            with check.subtest(where):
                found = other.add({topic: [0, 1]}, api_version)
                expect_codes(found, _all(topic, 2, code), where)
        with check.subtest("afterwards"):
            _expect_no_transaction(producer, "after the refusals")
            found = producer.add({topic: [0, 1]}, api_version)
            expect_codes(found, _all(topic, 2, ErrorCode.NONE), "the right identity")


@judges("TXN-009")
@at_versions("AddPartitionsToTxn", *VERSIONS)
def test_add_partitions_again_changes_nothing(broker: BrokerUnderTest, api_version: int) -> None:
    """The same partitions three times, then one of them with a new one: each gets one marker."""
    producer = TxnProducer(broker, "TXN-009")
    topic = broker.create_topic(partitions=3)
    with requirement("TXN-009"):
        first, again, once_more = (producer.add({topic: [0, 1]}, api_version) for _ in range(3))
        expect_codes(first, _all(topic, 2, ErrorCode.NONE), "first")
        expect_codes(again, _all(topic, 2, ErrorCode.NONE), "again")
        expect_codes(once_more, _all(topic, 2, ErrorCode.NONE), "a third time")
        found = producer.add({topic: [2, 1]}, api_version)
        expected: dict[Place, ErrorCode] = {(topic.name, index): ErrorCode.NONE for index in (1, 2)}
        expect_codes(found, expected, "one again and a new one")
        expect_error(producer.end(commit=True).error_code, ErrorCode.NONE, "the commit")
        expect_error(producer.add({topic: [0]}, api_version)[topic.name, 0], ErrorCode.NONE)
        markers = [len(markers_of(producer, topic, index)) for index in range(3)]
        assert markers == [1, 1, 1], f"the partitions have {markers} markers, expected one each"


@judges("TXN-011")
@at_versions("AddPartitionsToTxn", *VERSIONS)
def test_one_unknown_partition_leaves_all_partitions_out_of_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An unknown topic and an unknown partition beside good ones, which are not attempted.

    Outside of a transaction none begins; an open one keeps the partition that it has, and no other.
    """
    producer = TxnProducer(broker, "TXN-011")
    topic, missing = broker.create_topic(partitions=2), Topic(broker.unique_topic())
    good: dict[Place, ErrorCode] = {(topic.name, 0): ErrorCode.OPERATION_NOT_ATTEMPTED}
    cases: dict[str, tuple[dict[Topic, list[int]], Place]] = {
        "an unknown topic": ({topic: [0], missing: [0]}, (missing.name, 0)),
        "an unknown partition": ({topic: [0, FAR_PARTITION]}, (topic.name, FAR_PARTITION)),
    }
    with requirement("TXN-011") as check:
        for where, (partitions, bad) in cases.items():
            with check.subtest(where):
                found = producer.add(partitions, api_version)
                expect_codes(found, {**good, bad: UNKNOWN}, where)
                _expect_no_transaction(producer, where)
        for where, (partitions, bad) in cases.items():
            with check.subtest(f"{where}, open transaction"):
                producer.begin({topic: [1]})
                ends = [broker.end_offset(topic, index) for index in range(2)]
                found = producer.add(partitions, api_version)
                expect_codes(found, {**good, bad: UNKNOWN}, f"{where}, open transaction")
                producer.finish(commit=True)
                producer.begin({topic: [1]})  # the coordinator has written all markers
                grown = [broker.end_offset(topic, index) - ends[index] for index in range(2)]
                producer.finish(commit=False)
                told = f"{where}: the partitions got {grown} markers, expected none and one"
                assert grown == [0, 1], told

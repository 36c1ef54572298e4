"""IDEM, TXN: the producers of a partition and the listed transactions (KIP-664, KIP-1152)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import TRANSACTION, coordinated_name
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeProducersRequest, ListTransactionsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transactional import TxnProducer

NO_TRANSACTION = -1
WITH_PATTERN = "2+"  # of ListTransactions
Shown = tuple[int, int, int]
"""Epoch, last sequence and start of the transaction."""


def _described(producer: TxnProducer, topic: Topic, version: int) -> dict[int, Shown]:
    """The producers of partition 0 by their ids; their coordinator epochs fit."""
    wanted = DescribeProducersRequest.TopicRequest(name=topic.name, partition_indexes=[0])
    answer = producer.connection.ask(DescribeProducersRequest(topics=[wanted]), version)
    found = only(only(answer.topics, "topic").partitions, "partition")
    expect_error(found.error_code, ErrorCode.NONE)
    return {
        one.producer_id: (one.producer_epoch, one.last_sequence, one.current_txn_start_offset)
        for one in found.active_producers
    }


@judges("TXN-058")
@at_versions("DescribeProducers")
def test_describe_producers_returns_start_of_open_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two producers, the first with two batches; the start is that of the first batch.

    The end leaves no transaction and the last sequence; the next transaction has its own start.
    """
    one, two = (TxnProducer(broker, "TXN-058") for _ in range(2))
    topic = broker.create_topic()
    with requirement("TXN-058"):

        def expect(where: str, first: Shown, second: Shown) -> None:
            found, expected = _described(one, topic, api_version), {one.id: first, two.id: second}
            told = f"{where}: (epoch, last sequence, start) by id is {found}, expected {expected}"
            assert found == expected, told

        one.write(topic, b"0", b"1")
        two.write(topic, b"2")
        one.write(topic, b"3")
        expect("both are open", (0, 2, 0), (0, 0, 2))
        one.finish(commit=True)  # at 4
        expect("the first has ended", (0, 2, NO_TRANSACTION), (0, 0, 2))
        one.write(topic, b"5")
        two.finish(commit=False)  # at 6
        expect("the next one is open", (0, 3, 5), (0, 0, NO_TRANSACTION))


@judges("TXN-059")
@at_versions("ListTransactions", WITH_PATTERN)
def test_list_transactions_filters_by_pattern_of_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A pattern matches the whole id; null and empty ones match each, a wrong one is refused."""
    one, two = (TxnProducer(broker, "TXN-059") for _ in range(2))
    names = {one.name: "one", two.name: "two"}
    unknown = coordinated_name(broker, TRANSACTION)
    with requirement("TXN-059") as check:
        for where, pattern, expected in (
            ("null", None, ["one", "two"]),
            ("empty", "", ["one", "two"]),
            ("all", ".*", ["one", "two"]),
            ("one id", one.name, ["one"]),
            ("either id", f"{one.name}|{two.name}", ["one", "two"]),
            ("the begin of an id", one.name[:-1], []),
            ("an id but its first letter", f".{one.name[1:]}", ["one"]),
            ("the end of an id", one.name[1:], []),
            ("an id of none", unknown, []),
        ):
            with check.subtest(where):
                request = ListTransactionsRequest(transactional_id_pattern=pattern)
                answer = one.connection.ask(request, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, where)
                listed = [each.transactional_id for each in answer.transaction_states]
                found = sorted(names[name] for name in listed if name in names)
                told = f"{where}: listed are {found}, expected {expected}"
                assert found == expected, told
        with check.subtest("a wrong pattern"):
            request = ListTransactionsRequest(transactional_id_pattern="(")
            answer = one.connection.ask(request, api_version)
            code = ErrorCode.INVALID_REGULAR_EXPRESSION
            expect_error(answer.error_code, code, "a wrong pattern")
            listed = [each.transactional_id for each in answer.transaction_states]
            assert not listed, f"a wrong pattern: listed are {listed}"


@judges("IDEM-035")
@at_versions("DescribeProducers")
def test_describe_producers_of_unknown_partition_is_refused_and_others_are_answered(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A good partition with a producer, an unknown one, and a topic that does not exist."""
    producer, topic = TxnProducer(broker, "IDEM-035"), broker.create_topic()
    producer.write(topic, b"x")
    missing, wanted = broker.unique_topic(), DescribeProducersRequest.TopicRequest
    request = DescribeProducersRequest(
        topics=[
            wanted(name=missing, partition_indexes=[0]),
            wanted(name=topic.name, partition_indexes=[77, 0]),
        ]
    )
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with requirement("IDEM-035"):
        answer = producer.connection.ask(request, api_version)
        found = {
            (each.name, one.partition_index): (
                one.error_code,
                [active.producer_id for active in one.active_producers],
            )
            for each in answer.topics
            for one in each.partitions
        }
        expected = {
            (missing, 0): (unknown, []),
            (topic.name, 77): (unknown, []),
            (topic.name, 0): (ErrorCode.NONE, [producer.id]),
        }
        told = f"(error, producers) by partition is {found}, expected {expected}"
        assert found == expected, told

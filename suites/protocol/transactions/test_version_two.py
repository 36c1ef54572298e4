"""TXN: Produce begins a transaction, and its end raises the epoch (KIP-890, part 2)."""

from __future__ import annotations

import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeTransactionsRequest, EndTxnResponse, ProduceResponse
from harness.codec.structs import Message
from harness.conformance.checks import requirement
from harness.runner.faults import Faults, requests
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import (
    commit,
    entry,
    expect_codes,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import READ_COMMITTED, committed_values, fetched
from suites.protocol.support.transactional import OLDER, TxnProducer, fenced_code
from suites.protocol.support.transactional_offsets import commit_pending, pending

FIRST_WITH_NEW_EPOCH = "5+"  # of EndTxn
ENDS = (True, False, True)  # commit, abort, commit
FENCED = ErrorCode.INVALID_PRODUCER_EPOCH
COMMITTED, LATE = 5, 9
HELD_MS = 60_000
ENDED = {True: "CompleteCommit", False: "CompleteAbort"}
BOTH = pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])


def _expect_transaction(
    producer: TxnProducer, state: str, partitions: dict[str, list[int]], where: str
) -> None:
    """The transaction of the producer, when all its markers are written, has these values."""
    request = DescribeTransactionsRequest(transactional_ids=[producer.name])
    version = producer.broker.version("DescribeTransactions")
    one = producer.broker.last_seen(
        lambda: only(producer.connection.ask(request, version).transaction_states, "transaction"),
        lambda one: not one.transaction_state.startswith("Prepare"),
    )
    topics = {topic.topic: sorted(topic.partitions) for topic in one.topics}
    found, expected = (one.transaction_state, topics), (state, partitions)
    told = f"{where}: (state, partitions) is {found}, expected {expected}"
    assert found == expected, told


def _expect_committed(
    producer: TxnProducer, topic: Topic, expected: list[bytes], where: str, partition: int = 0
) -> None:
    """A consumer with read_committed gets these values of the partition."""
    version = producer.broker.reading_version(topic)
    answer = fetched(producer, topic, version, READ_COMMITTED, partition=partition)
    found = committed_values(answer)
    assert found == expected, f"{where}: committed are {found}, expected {expected}"


def _expect_sent(answer: ProduceResponse.PartitionProduceResponse, offset: int, where: str) -> None:
    expect_error(answer.error_code, ErrorCode.NONE, where)
    found = answer.base_offset
    assert found == offset, f"{where}: the base offset is {found}, expected {offset}"


@judges("TXN-014")
@at_versions("Produce", "12", "13+")
@BOTH
def test_produce_adds_its_partition_to_transaction(
    broker: BrokerUnderTest, api_version: int, commits: bool
) -> None:
    """One partition, then another one: the transaction has each from its first batch on.

    Nothing is visible before the end; an EndTxn of the newer form then ends both partitions.
    """
    producer = TxnProducer(broker, "TXN-014", newer=True)
    topic = broker.create_topic(partitions=3)
    done = "after the commit" if commits else "after the abort"
    with requirement("TXN-014"):
        _expect_transaction(producer, "Empty", {}, "before")
        for count, partition in enumerate((1, 0)):
            where = f"partition {partition} without AddPartitionsToTxn"
            _expect_sent(producer.send(topic, b"x", partition=partition, version=api_version),
                         0, where)  # fmt: skip
            has = {topic.name: sorted((1, 0)[: count + 1])}
            _expect_transaction(producer, "Ongoing", has, where)
            _expect_committed(producer, topic, [], where, partition)
        again = producer.send(topic, b"y", partition=1, version=api_version)
        _expect_sent(again, 1, "a partition that the transaction has")
        producer.partitions |= {(topic, 0), (topic, 1)}
        producer.finish(commit=commits)
        _expect_committed(producer, topic, [b"x"] if commits else [], done, 0)
        _expect_committed(producer, topic, [b"x", b"y"] if commits else [], done, 1)
        ends = [broker.end_offset(topic, index) for index in range(3)]
        assert ends == [2, 3, 0], f"{done}: the partitions end at {ends}, expected [2, 3, 0]"


@judges("TXN-015")
@at_versions("EndTxn", FIRST_WITH_NEW_EPOCH)
def test_each_end_returns_the_next_epoch(broker: BrokerUnderTest, api_version: int) -> None:
    """Commit, abort, commit: each returns the producer id and the epoch of the next transaction."""
    producer, topic = TxnProducer(broker, "TXN-015", newer=True), broker.create_topic()
    first = producer.id
    with requirement("TXN-015"):
        for epoch, commits in enumerate(ENDS):
            where = f"epoch {epoch}, {'commit' if commits else 'abort'}"
            sent = producer.send(topic, b"%d" % epoch)
            _expect_sent(sent, 2 * epoch, f"{where}, the batch")
            answer = producer.end(commit=commits, version=api_version)
            expect_error(answer.error_code, ErrorCode.NONE, where)
            found, expected = (answer.producer_id, answer.producer_epoch), (first, epoch + 1)
            assert found == expected, f"{where}: id and epoch are {found}, expected {expected}"
            producer.take(answer)
        last = producer.send(topic, b"%d" % len(ENDS))
        _expect_sent(last, 2 * len(ENDS), "the batch with the last epoch")
        _expect_committed(producer, topic, [b"0", b"2"], "an open transaction behind three")


@judges("TXN-015")
@at_versions("EndTxn", OLDER["EndTxn"])
def test_older_end_beside_newer_one_keeps_the_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Commit, abort, commit in the older form of transactions: all have the first epoch."""
    broker.version("EndTxn", FIRST_WITH_NEW_EPOCH)
    producer, topic = TxnProducer(broker, "TXN-015"), broker.create_topic()
    add = producer.version("AddPartitionsToTxn")
    with requirement("TXN-015"):
        for count, commits in enumerate(ENDS):
            where = f"older transaction {count}"
            found = producer.add({topic: [0]}, add)
            expect_codes(found, {(topic.name, 0): ErrorCode.NONE}, where)
            _expect_sent(producer.send(topic, b"%d" % count), 2 * count, where)
            answer = producer.end(commit=commits, version=api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"{where}, the end")
        producer.begin({topic: [0]})  # the coordinator has written all markers
        _expect_committed(producer, topic, [b"0", b"2"], "behind three older transactions")


def _former(producer: TxnProducer) -> TxnProducer:
    """The producer as it is before the end, with its next sequence numbers."""
    one = producer.other()
    one.sequences.update(producer.sequences)
    return one


@judges("TXN-016")
@at_versions("Produce", "3-11", "12", "13+")
@BOTH
def test_late_batch_of_former_epoch_enters_no_later_transaction(
    broker: BrokerUnderTest, api_version: int, commits: bool
) -> None:
    """The next batch of an ended transaction, before the next transaction and within it.

    The log keeps its end, and the next transaction commits its own records alone.
    """
    producer, topic = TxnProducer(broker, "TXN-016", newer=True), broker.create_topic()
    producer.write(topic, b"first")
    former, kept = _former(producer), [b"first"] if commits else []
    producer.finish(commit=commits)
    with requirement("TXN-016"):
        _expect_late(former, topic, api_version, "after the end", end=2)
        _expect_transaction(producer, ENDED[commits], {}, "after the late batch")
        _expect_sent(producer.send(topic, b"next"), 2, "the next epoch")
        _expect_late(former, topic, api_version, "within the next transaction", end=3)
        _expect_sent(producer.send(topic, b"next, too"), 3, "the next epoch, again")
        producer.partitions.add((topic, 0))
        producer.finish(commit=True)
        _expect_late(former, topic, api_version, "after the next end", end=5)
        expected = [*kept, b"next", b"next, too"]
        _expect_committed(producer, topic, expected, "after the next end")


def _expect_late(former: TxnProducer, topic: Topic, version: int, where: str, *, end: int) -> None:
    """A batch with the former epoch is refused, and the log keeps this end."""
    answer = former.send(topic, b"late", version=version)
    expect_error(answer.error_code, FENCED, f"a late batch {where}")
    found = former.broker.end_offset(topic)
    assert found == end, f"a late batch {where}: the log ends at {found}, expected {end}"


@judges("TXN-016")
@at_versions("EndTxn", FIRST_WITH_NEW_EPOCH)
def test_former_epoch_adds_nothing_to_next_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """AddPartitionsToTxn and TxnOffsetCommit with the epoch before the end, within the next one."""
    producer = TxnProducer(broker, "TXN-016", newer=True)
    topic, add = broker.create_topic(partitions=2), broker.version("AddPartitionsToTxn", "0-3")
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED)]})
    producer.write(topic, b"first")
    former = _former(producer)
    producer.finish(commit=True, version=api_version)
    producer.write(topic, b"next")
    with requirement("TXN-016"):
        found = former.add({topic: [1]}, add)
        code = fenced_code("AddPartitionsToTxn", add)
        expect_codes(found, {(topic.name, 1): code}, "a late AddPartitionsToTxn")
        late = producer.version("TxnOffsetCommit")
        found = commit_pending(former, group, {topic: [pending(LATE)]}, late)
        expect_codes(found, {(topic.name, 0): FENCED}, "a late TxnOffsetCommit")
        has = {topic.name: [0]}
        _expect_transaction(producer, "Ongoing", has, "after late requests")
        producer.finish(commit=True)
        _expect_committed(producer, topic, [b"first", b"next"], "after the next commit")
        offsets = fetch_offsets(broker, group, {topic: [0]})
        offsets.expect(topic, COMMITTED, where="after the next commit")


@judges("TXN-062")
@at_versions("EndTxn", FIRST_WITH_NEW_EPOCH)
@BOTH
def test_late_end_of_former_transaction_ends_nothing(
    broker: BrokerUnderTest, faults: Faults, api_version: int, commits: bool
) -> None:
    """The first EndTxn is held back until the next transaction has a record.

    The former transaction has ended by a second request. The next one gets another partition behind
    the late request, and ends the other way.
    """
    producer, topic = TxnProducer(broker, "TXN-062", newer=True), broker.create_topic(partitions=2)
    producer.write(topic, b"first")
    with faults.path(requests("EndTxn").first().hold(at_most_ms=HELD_MS)) as path:
        late = broker.connect("TXN-062", through=Address(*path.address))
        late.send(producer.end_request(commits), api_version)
        broker.eventually(path.has_fired, "the first EndTxn is held back")
        producer.finish(commit=commits, version=api_version)
        producer.write(topic, b"next")
        with requirement("TXN-062"):
            path.disarm()
            _expect_late_end(late.receive(), "a late commit" if commits else "a late abort")
            _expect_transaction(producer, "Ongoing", {topic.name: [0]}, "after the late end")
            before = [b"first"] if commits else []
            _expect_committed(producer, topic, before, "after the late end")
            _expect_sent(producer.send(topic, b"next", partition=1), 0, "behind the late end")
            producer.partitions.add((topic, 1))
            producer.finish(commit=not commits)
            after = [b"first"] if commits else [b"next"]
            _expect_committed(producer, topic, after, "after the next end")
            _expect_committed(producer, topic, [] if commits else [b"next"], "after it", 1)


def _expect_late_end(answer: Message, where: str) -> None:
    assert isinstance(answer, EndTxnResponse)
    expect_error(answer.error_code, ErrorCode.PRODUCER_FENCED, where)
    found = (answer.producer_id, answer.producer_epoch)
    assert found == (-1, -1), f"{where}: id and epoch are {found}, expected none"

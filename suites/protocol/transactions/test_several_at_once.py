"""TXN: one request about several partitions, transactional ids or groups: each has its own."""

from __future__ import annotations

from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.requests import LATEST, Topic, fetch_request, list_offsets_of
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeTransactionsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.committed_offsets import commit, entry, fetch_groups, fresh_group
from suites.protocol.support.fetching import entry_of, partitions_of
from suites.protocol.support.transaction_log import READ_COMMITTED, aborted_in
from suites.protocol.support.transactional import TxnProducer
from suites.protocol.support.transactional_offsets import make_pending, pending

COMMITTED, PENDING = 5, 9
Places = dict[tuple[str, int], tuple[int, int]]


@judges("TXN-025")
@at_versions("Fetch", "4-11", "12", "13+")
def test_fetch_of_several_partitions_lists_aborted_transactions_of_each(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of two producers, one in two partitions; the partition in between has none. In the order of
    the partitions, and in the reverse one."""
    one, other = (TxnProducer(broker, "TXN-025") for _ in range(2))
    topic = broker.create_topic(partitions=3)
    append(broker, topic, batch_of(b"plain"), partition=2)
    for producer, partitions in ((one, (0, 2)), (other, (2,))):
        for partition in partitions:
            producer.write(topic, b"x", partition=partition)
        producer.finish(commit=False)
    expected = {0: [(one.id, 0)], 1: [], 2: sorted([(one.id, 1), (other.id, 3)])}
    with requirement("TXN-025") as check:
        for order in ((0, 1, 2), (2, 1, 0)):
            with check.subtest(f"partitions {order}"):
                wanted = entry_of(topic, api_version, dict.fromkeys(order, 0))
                request = fetch_request([wanted], isolation_level=READ_COMMITTED)
                answers = partitions_of(one.connection.ask(request, api_version))
                found = {each.partition_index: sorted(aborted_in(each) or []) for each in answers}
                told = f"partitions {order}: the aborted transactions are {found}"
                assert found == expected, f"{told}, expected {expected}"


@judges("LISTO-007")
@at_versions("ListOffsets", "2-3", "4-5", "6+")
def test_list_offsets_of_several_partitions_ends_at_last_stable_offset_of_each(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An open transaction at offset 0 of one, at 1 of another; the third has none."""
    producer, topic = TxnProducer(broker, "LISTO-007"), broker.create_topic(partitions=3)
    for partition in (1, 2):
        append(broker, topic, batch_of(b"plain"), partition=partition)
    for partition in (0, 1):
        producer.write(topic, b"open", partition=partition)
    expected = {0: (0, 0), 1: (0, 1), 2: (0, 1)}
    with requirement("LISTO-007") as check:
        for order in ((0, 1, 2), (2, 1, 0)):
            with check.subtest(f"partitions {order}"):
                request = list_offsets_of({topic: order}, LATEST, READ_COMMITTED)
                answer = producer.connection.ask(request, api_version)
                found = {
                    each.partition_index: (each.error_code, each.offset)
                    for named in answer.topics
                    for each in named.partitions
                }
                told = f"partitions {order}: the (error, offset) of each is {found}"
                assert found == expected, f"{told}, expected {expected}"
    producer.finish(commit=True)


@judges("TXN-036")
@at_versions("DescribeTransactions")
def test_describe_transactions_of_several_ids_returns_partitions_of_each(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three open transactions, of other partitions each."""
    topic = broker.create_topic(partitions=3)
    producers = [TxnProducer(broker, "TXN-036") for _ in range(3)]
    for partition, producer in enumerate(producers):
        producer.begin({topic: [partition, (partition + 1) % 3]})
    expected = {
        each.name: ("Ongoing", each.id, sorted([at, (at + 1) % 3]))
        for at, each in enumerate(producers)
    }
    with requirement("TXN-036"):
        request = DescribeTransactionsRequest(transactional_ids=list(expected))
        answer = producers[0].connection.ask(request, api_version)
        found = {
            one.transactional_id: (
                one.transaction_state,
                one.producer_id,
                sorted(index for each in one.topics for index in each.partitions),
            )
            for one in answer.transaction_states
        }
        assert found == expected, f"described are {found}, expected {expected}"
    for producer in producers:
        producer.finish(commit=True)


def _stable(broker: BrokerUnderTest, groups: list[str], topic: Topic, version: int) -> Places:
    """Return the error and the stable offset of each partition, by group."""
    asked = [fetch_groups(broker, {one: {topic: [0, 1]}}, version, stable=True) for one in groups]
    return {
        (group, index): (one.error_code, one.committed_offset)
        for answer in asked
        for group, offsets in answer.items()
        for (_, index), one in offsets.partitions.items()
    }


@judges("TXN-031")
@at_versions("OffsetFetch", "7", "8-9", "10+")
def test_abort_leaves_no_offset_pending_in_any_group_of_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three groups with a committed and a pending offset: unstable until the abort, stable then."""
    producer, topic = TxnProducer(broker, "TXN-031"), broker.create_topic(partitions=2)
    groups = [fresh_group(broker, topic) for _ in range(3)]
    for group in groups:
        commit(broker, group, {topic: [entry(COMMITTED), entry(COMMITTED, "", 1)]})
        make_pending(producer, group, {topic: [pending(PENDING)]})
    unstable = (int(ErrorCode.UNSTABLE_OFFSET_COMMIT), -1)
    before = {(group, at): (unstable, (0, COMMITTED))[at] for group in groups for at in (0, 1)}
    after = {(group, at): (0, COMMITTED) for group in groups for at in (0, 1)}
    read = partial(_stable, broker, groups, topic, api_version)
    with requirement("TXN-031"):
        found = read()
        assert found == before, f"open: the (error, stable offset) of each is {found}"
        producer.finish(commit=False)
        found = broker.last_seen(read, lambda found: found == after)
        assert found == after, f"aborted: the (error, stable offset) of each is {found}"

"""TXN: DescribeTransactions and ListTransactions (KIP-664, KIP-994)."""

from __future__ import annotations

from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import TRANSACTION, coordinated_name
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transactional import TxnProducer

LONG_RUN_MS = 500
HOUR_MS = 3_600_000
State = DescribeTransactionsResponse.TransactionState


def _described(producer: TxnProducer, version: int, *others: str) -> dict[str, State]:
    """The described transactions by id: that of the producer, and those of other ids."""
    request = DescribeTransactionsRequest(transactional_ids=[producer.name, *others])
    answer = producer.connection.ask(request, version)
    return {one.transactional_id: one for one in answer.transaction_states}


def _expect_state(
    producer: TxnProducer,
    version: int,
    state: str,
    partitions: dict[str, list[int]],
) -> State:
    """The description of the producer's transaction has these values."""
    found = _described(producer, version)
    assert list(found) == [producer.name], f"{state}: the ids are {list(found)}"
    one = found[producer.name]
    expect_error(one.error_code, ErrorCode.NONE, state)
    fields = (one.transaction_state, one.producer_id, one.producer_epoch,
              one.transaction_timeout_ms)  # fmt: skip
    expected = (state, producer.id, producer.epoch, producer.timeout_ms)
    assert fields == expected, (
        f"{state}: (state, id, epoch, timeout) is {fields}, expected {expected}"
    )
    topics = {each.topic: sorted(each.partitions) for each in one.topics}
    assert topics == partitions, f"{state}: the partitions are {topics}, expected {partitions}"
    return one


@judges("TXN-036")
@at_versions("DescribeTransactions")
def test_describe_transactions_returns_each_state_with_its_values(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Empty, Ongoing with one and with three partitions, CompleteCommit, CompleteAbort.

    The start time stays during a transaction, and the next one begins no earlier. A new producer
    of the id brings its own timeout.
    """
    producer = TxnProducer(broker, "TXN-036", timeout_ms=34_567)
    topic, other = broker.create_topic(partitions=2), broker.create_topic()
    with requirement("TXN-036"):
        _expect_state(producer, api_version, "Empty", {})
        producer.write(topic, b"x", partition=1)
        one = _expect_state(producer, api_version, "Ongoing", {topic.name: [1]})
        begin = one.transaction_start_time_ms
        assert begin > HOUR_MS, f"Ongoing: the start time is {begin}"
        producer.begin({topic: [0], other: [0]})
        expected = {topic.name: [0, 1], other.name: [0]}
        later = _expect_state(producer, api_version, "Ongoing", expected).transaction_start_time_ms
        assert later == begin, f"Ongoing: the start time was {begin}, now it is {later}"
        _end_and_expect(producer, api_version, "CompleteCommit", commit=True)
        producer.write(topic, b"x")
        one = _expect_state(producer, api_version, "Ongoing", {topic.name: [0]})
        later = one.transaction_start_time_ms
        assert later >= begin, f"the next transaction began at {later}, the one before at {begin}"
        _end_and_expect(producer, api_version, "CompleteAbort", commit=False)
        producer.timeout_ms = 45_678
        producer.take(producer.init())
        _expect_state(producer, api_version, "Empty", {})


def _end_and_expect(producer: TxnProducer, version: int, state: str, *, commit: bool) -> None:
    """End the transaction: when all markers are written, it has this state."""
    producer.finish(commit=commit)
    producer.broker.last_seen(
        lambda: _described(producer, version)[producer.name].transaction_state,
        lambda found: not found.startswith("Prepare"),
    )
    _expect_state(producer, version, state, {})


@judges("TXN-036")
@at_versions("DescribeTransactions")
def test_describe_transactions_of_unknown_id_returns_transactional_id_not_found(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Beside a known id, which is described; the description of the unknown one is empty."""
    producer, unknown = TxnProducer(broker, "TXN-036"), coordinated_name(broker, TRANSACTION)
    with requirement("TXN-036"):
        found = _described(producer, api_version, unknown)
        assert sorted(found) == sorted([producer.name, unknown]), f"the ids are {list(found)}"
        one, known = found[unknown], found[producer.name]
        expect_error(one.error_code, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, "an unknown id")
        assert (one.transaction_state, list(one.topics)) == ("", []), (
            f"an unknown id: the state is {one.transaction_state!r}, the topics {one.topics}"
        )
        expect_error(known.error_code, ErrorCode.NONE, "a known id")
        state = known.transaction_state
        assert state == "Empty", f"a known id: the state is {state}"


@dataclass(frozen=True, slots=True)
class _Three:
    """Transactional ids without a transaction, with an open one, and with a committed one."""

    empty: TxnProducer
    open: TxnProducer
    committed: TxnProducer

    @property
    def names(self) -> dict[str, str]:
        """The kind of each, by its transactional id."""
        kinds = {"empty": self.empty, "open": self.open, "committed": self.committed}
        return {one.name: kind for kind, one in kinds.items()}


def _three(broker: BrokerUnderTest, topic: Topic) -> _Three:
    empty, open_, committed = (TxnProducer(broker, "TXN-037") for _ in range(3))
    committed.write(topic, b"x")
    committed.finish(commit=True)
    open_.write(topic, b"x")
    return _Three(empty, open_, committed)


def _listed(three: _Three, request: ListTransactionsRequest, version: int) -> list[str]:
    """The kinds of the listed ids of this test, in order; each entry has the right values."""
    answer = three.open.connection.ask(request, version)
    expect_error(answer.error_code, ErrorCode.NONE)
    found = {one.transactional_id: one for one in answer.transaction_states}
    names = three.names
    for producer in (three.empty, three.open, three.committed):
        one = found.get(producer.name)
        assert one is None or one.producer_id == producer.id, (
            f"{names[producer.name]}: producer id {one and one.producer_id}, expected {producer.id}"
        )
    return sorted(names[name] for name in found if name in names)


@judges("TXN-037")
@at_versions("ListTransactions", "0", "1", "2+")
def test_list_transactions_filters_by_state_and_producer_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """No filter, one state, two states, one id, two ids, and both filters together."""
    three = _three(broker, broker.create_topic())
    broker.eventually(lambda: _is_complete(three.committed), "the commit is complete")
    open_, empty, other = three.open.id, three.empty.id, three.committed.id
    with requirement("TXN-037") as check:
        for where, states, ids, expected in (
            ("no filter", [], [], ["committed", "empty", "open"]),
            ("one state", ["Ongoing"], [], ["open"]),
            ("the empty ones", ["Empty"], [], ["empty"]),
            ("two states", ["Ongoing", "CompleteCommit"], [], ["committed", "open"]),
            ("a state of none", ["CompleteAbort"], [], []),
            ("one id", [], [empty], ["empty"]),
            ("two ids", [], [open_, other], ["committed", "open"]),
            ("an id of none", [], [open_ + 10**9], []),
            ("state and id", ["Ongoing"], [open_, empty], ["open"]),
            ("state and another id", ["Ongoing"], [empty], []),
        ):
            with check.subtest(where):
                request = ListTransactionsRequest(state_filters=states, producer_id_filters=ids)
                found = _listed(three, request, api_version)
                assert found == expected, f"{where}: listed are {found}, expected {expected}"


def _is_complete(producer: TxnProducer) -> bool:
    request = DescribeTransactionsRequest(transactional_ids=[producer.name])
    state = only(producer.broker.ask(request).transaction_states, "transaction")
    return state.transaction_state == "CompleteCommit"


@judges("TXN-037")
@at_versions("ListTransactions", "0", "1", "2+")
def test_list_transactions_returns_unknown_state_filters(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Unknown names are returned and match nothing; known ones beside them still match."""
    three = _three(broker, broker.create_topic())
    with requirement("TXN-037") as check:
        for states, unknown, listed in (
            (["Ongoing"], [], ["open"]),
            (["Ongoing", "NoState", "Empty"], ["NoState"], ["empty", "open"]),
            (["NoState", "OtherState"], ["NoState", "OtherState"], []),
        ):
            where = f"filters {states}"
            with check.subtest(where):
                request = ListTransactionsRequest(state_filters=states)
                answer: ListTransactionsResponse = three.open.connection.ask(request, api_version)
                names = sorted(answer.unknown_state_filters)
                assert names == unknown, f"{where}: unknown are {names}, expected {unknown}"
                found = _listed(three, request, api_version)
                assert found == listed, f"{where}: listed are {found}, expected {listed}"


@judges("TXN-037")
@at_versions("ListTransactions", "1", "2+")
def test_list_transactions_filters_by_duration(broker: BrokerUnderTest, api_version: int) -> None:
    """An open transaction runs longer than 0 ms, not longer than an hour; -1 is no filter."""
    three = _three(broker, broker.create_topic())
    with requirement("TXN-037") as check:
        for duration_ms, expected in ((-1, ["open"]), (0, ["open"]), (HOUR_MS, [])):
            with check.subtest(f"{duration_ms} ms"):
                request = ListTransactionsRequest(
                    state_filters=["Ongoing"], duration_filter=duration_ms
                )
                found = broker.last_seen(
                    lambda request=request: _listed(three, request, api_version),  # type: ignore[misc]
                    lambda found, expected=expected: found == expected,  # type: ignore[misc]
                    within_ms=2_000,
                )
                told = f"longer than {duration_ms} ms: listed are {found}, expected {expected}"
                assert found == expected, told


@judges("TXN-037")
@at_versions("ListTransactions", "1", "2+")
def test_duration_of_listed_transaction_counts_from_its_beginning(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A transaction that has run for longer than the filter says gets one more partition."""
    topic = broker.create_topic(partitions=2)
    three = _three(broker, topic)
    request = ListTransactionsRequest(state_filters=["Ongoing"], duration_filter=LONG_RUN_MS)
    broker.eventually(
        lambda: _listed(three, request, api_version) == ["open"],
        f"the transaction has run for {LONG_RUN_MS} ms",
    )
    three.open.begin({topic: [1]})
    with requirement("TXN-037"):
        found = _listed(three, request, api_version)
        assert found == ["open"], f"behind one more partition: listed are {found}, expected open"

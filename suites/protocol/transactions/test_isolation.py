"""TXN, LISTO: the records, offsets and aborted transactions that each isolation level returns."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    Topic,
    list_offsets_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    aborted_in,
    committed_values,
    fetched,
    markers_of,
    values_in,
)
from suites.protocol.support.transactional import TxnProducer

VERSIONS = ("4-11", "12", "13+")  # of Fetch: those with an isolation level
BOTH = pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
HOUR_MS = 3_600_000
NONE_YET: list[bytes | None] = []


@judges("TXN-021")
@at_versions("Fetch", *VERSIONS)
@BOTH
def test_read_committed_returns_all_of_committed_and_none_of_aborted_transaction(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """Three partitions of two topics: nothing before the end; then all that was committed.

    Plain records before and behind are returned with either end.
    """
    producer = TxnProducer(broker, "TXN-021")
    topic, other = broker.create_topic(partitions=2), broker.create_topic()
    places = [(topic, 0), (topic, 1), (other, 0)]
    for place, partition in places:
        append(broker, place, batch_of(b"before"), partition=partition)
        producer.write(place, b"one", b"two", partition=partition)
        append(broker, place, batch_of(b"behind"), partition=partition)
    with requirement("TXN-021") as check:
        for number, (place, partition) in enumerate(places):
            with check.subtest(f"open, {number}"):
                answer = fetched(producer, place, api_version, READ_COMMITTED, partition=partition)
                found = committed_values(answer)
                assert found == [b"before"], f"open: the values are {found}, expected before"
        producer.finish(commit=commit)
        within = [b"one", b"two"] if commit else []
        expected = [b"before", *within, b"behind"]
        for number, (place, partition) in enumerate(places):
            with check.subtest(f"at its end, {number}"):
                answer = fetched(producer, place, api_version, READ_COMMITTED, partition=partition)
                found = committed_values(answer)
                done = "committed" if commit else "aborted"
                assert found == expected, f"{done}: the values are {found}, expected {expected}"


@judges("TXN-022")
@at_versions("Fetch", *VERSIONS)
def test_read_uncommitted_returns_records_of_open_and_aborted_transactions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An aborted, a committed and an open transaction with plain records between them."""
    aborted, open_ = (TxnProducer(broker, "TXN-022") for _ in range(2))
    topic = broker.create_topic()
    aborted.write(topic, b"aborted")
    with requirement("TXN-022"):
        values = values_in(fetched(open_, topic, api_version, READ_UNCOMMITTED))
        assert values == [b"aborted"], f"open: the values are {values}, expected one"
        aborted.finish(commit=False)
        append(broker, topic, batch_of(b"plain"))
        open_.write(topic, b"open")
        append(broker, topic, batch_of(b"behind"))
        values = values_in(fetched(open_, topic, api_version, READ_UNCOMMITTED))
        expected = [b"aborted", b"plain", b"open", b"behind"]
        assert values == expected, f"the values are {values}, expected {expected}"


def _expect_offsets(
    reader: TxnProducer, topic: Topic, version: int, expected: tuple[int, int], where: str
) -> None:
    answer = fetched(reader, topic, version, READ_COMMITTED)
    found = (answer.last_stable_offset, answer.high_watermark)
    told = f"{where}: (last stable offset, high watermark) is {found}, expected {expected}"
    assert found == expected, told


@judges("TXN-023")
@at_versions("Fetch", *VERSIONS)
@BOTH
def test_last_stable_offset_is_first_offset_of_earliest_open_transaction(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """Two transactions behind a plain record: the second ends first, the first begins another."""
    one, two = (TxnProducer(broker, "TXN-023") for _ in range(2))
    topic = broker.create_topic()
    with requirement("TXN-023"):
        _expect_offsets(one, topic, api_version, (0, 0), "an empty log")
        append(broker, topic, batch_of(b"plain", b"plain"))
        _expect_offsets(one, topic, api_version, (2, 2), "plain records")
        one.write(topic, b"a")
        two.write(topic, b"b", b"c")
        one.write(topic, b"d")
        append(broker, topic, batch_of(b"plain"))
        _expect_offsets(one, topic, api_version, (2, 7), "two open transactions")
        two.finish(commit=commit)  # its marker is at 7
        _expect_offsets(one, topic, api_version, (2, 8), "the first is open")
        two.write(topic, b"e")  # at 8
        _expect_offsets(one, topic, api_version, (2, 9), "the second has another")
        one.finish(commit=commit)  # its marker is at 9
        _expect_offsets(one, topic, api_version, (8, 10), "the first has ended")
        two.finish(commit=commit)
        _expect_offsets(one, topic, api_version, (11, 11), "both have ended")


@judges("TXN-024")
@at_versions("Fetch", *VERSIONS)
@BOTH
def test_read_committed_returns_nothing_behind_open_transaction(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """A plain record, an open transaction, a plain record; fetches from each offset and the end.

    The plain record behind is returned when the transaction has ended.
    """
    producer, topic = TxnProducer(broker, "TXN-024"), broker.create_topic()
    append(broker, topic, batch_of(b"before"))
    producer.write(topic, b"within")
    append(broker, topic, batch_of(b"behind"))
    with requirement("TXN-024") as check:
        for offset, values in ((0, [b"before"]), (1, NONE_YET), (2, NONE_YET), (3, NONE_YET)):
            with check.subtest(f"open, from offset {offset}"):
                answer = fetched(producer, topic, api_version, READ_COMMITTED, offset=offset)
                found = values_in(answer)
                told = f"open, from offset {offset}: the values are {found}, expected {values}"
                assert found == values, told
        producer.finish(commit=commit)
        for offset in (0, 2):
            with check.subtest(f"ended, from offset {offset}"):
                answer = fetched(producer, topic, api_version, READ_COMMITTED, offset=offset)
                found = values_in(answer)
                expected = [b"before", b"within", b"behind"][offset:]
                told = f"ended, from offset {offset}: the values are {found}, expected {expected}"
                assert found == expected, told


@judges("TXN-025")
@at_versions("Fetch", *VERSIONS)
def test_fetch_lists_aborted_transactions_that_overlap_its_range(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three aborted transactions, two of them overlapping, and a committed one.

    Fetches begin in front of, within and behind each; read_uncommitted lists none.
    """
    one, two, other = (TxnProducer(broker, "TXN-025") for _ in range(3))
    topic = broker.create_topic()
    one.write(topic, b"0")
    two.write(topic, b"1")
    one.write(topic, b"2")
    one.finish(commit=False)  # at 3
    other.write(topic, b"4")
    other.finish(commit=True)  # at 5
    two.finish(commit=False)  # at 6
    one.write(topic, b"7")
    one.finish(commit=False)  # at 8
    append(broker, topic, batch_of(b"9"))
    first, second, third = (one.id, 0), (two.id, 1), (one.id, 7)
    expected: dict[int, set[tuple[int, int]]] = {
        **{offset: {first, second, third} for offset in (0, 1, 3)},
        **{offset: {second, third} for offset in (4, 6)},
        **{offset: {third} for offset in (7, 8)},
        9: set(),
    }
    with requirement("TXN-025") as check:
        for offset, transactions in expected.items():
            with check.subtest(f"from offset {offset}"):
                answer = fetched(one, topic, api_version, READ_COMMITTED, offset=offset)
                found = sorted(aborted_in(answer) or [])
                told = (
                    f"from offset {offset}: the aborted transactions (id, first offset) are "
                    f"{found}, expected {sorted(transactions)}"
                )
                assert found == sorted(transactions), told
        with check.subtest("read_uncommitted"):
            found = aborted_in(fetched(one, topic, api_version, READ_UNCOMMITTED)) or []
            assert found == [], f"read_uncommitted: the aborted transactions are {found}"


@judges("TXN-025")
@at_versions("Fetch", *VERSIONS)
def test_fetch_lists_no_open_and_no_committed_transaction_as_aborted(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A committed one, then an open one, which appears in the list when it has been aborted."""
    committed, open_ = (TxnProducer(broker, "TXN-025") for _ in range(2))
    topic = broker.create_topic()
    committed.write(topic, b"0")
    open_.write(topic, b"1")
    committed.finish(commit=True)
    with requirement("TXN-025"):
        found = aborted_in(fetched(open_, topic, api_version, READ_COMMITTED)) or []
        assert found == [], f"none is aborted: the aborted transactions are {found}"
        open_.finish(commit=False)
        found = aborted_in(fetched(open_, topic, api_version, READ_COMMITTED)) or []
        expected = [(open_.id, 1)]
        assert found == expected, f"one is aborted: they are {found}, expected {expected}"


@judges("TXN-041")
@at_versions("EndTxn", "0-2", "3-4", "5+")
@BOTH
def test_transactions_in_one_partition_end_independently(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """The later one ends while the earlier one is open: its marker is there, its record waits."""
    newer = api_version >= 5
    early, late = (TxnProducer(broker, "TXN-041", newer=newer) for _ in range(2))
    topic = broker.create_topic()
    early.write(topic, b"early")
    late.write(topic, b"late")
    early.write(topic, b"early again")
    with requirement("TXN-041"):
        code = late.end(commit=commit, version=api_version).error_code
        expect_error(code, ErrorCode.NONE, "the end of the later one")
        expected = [(3, commit)]
        markers = broker.last_seen(lambda: markers_of(late, topic), bool)
        assert markers == expected, f"the first is open: the markers are {markers}"
        answer = fetched(late, topic, broker.reading_version(topic), READ_COMMITTED)
        found = values_in(answer), answer.last_stable_offset
        assert found == ([], 0), f"the first is open: (values, stable offset) is {found}"
        code = early.end(commit=True, version=api_version).error_code
        expect_error(code, ErrorCode.NONE, "the end of the earlier one")
        broker.eventually(lambda: broker.end_offset(topic) == 5, "both have markers")
        answer = fetched(late, topic, broker.reading_version(topic), READ_COMMITTED)
        values = committed_values(answer)
        within = [b"early", b"late", b"early again"] if commit else [b"early", b"early again"]
        assert values == within, f"both have ended: the values are {values}, expected {within}"


def _listed(
    reader: TxnProducer, topic: Topic, time_ms: int, version: int, isolation_level: int
) -> tuple[int, int]:
    """The error and the offset of ListOffsets for one partition."""
    request = list_offsets_request(topic, time_ms, isolation_level=isolation_level)
    answer = only(
        only(reader.connection.ask(request, version).topics, "topic").partitions, "partition"
    )
    return answer.error_code, answer.offset


@judges("LISTO-007")
@at_versions("ListOffsets", "2-3", "4-5", "6+")
def test_list_offsets_is_bounded_by_last_stable_offset_with_read_committed(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An open transaction at offset 1 of 4: the latest, the earliest and a time behind it.

    At its end both levels return the same.
    """
    producer, topic = TxnProducer(broker, "LISTO-007"), broker.create_topic()
    append(broker, topic, batch_of(b"plain"))
    producer.write(topic, b"open")
    append(broker, topic, batch_of(b"behind", b"behind"))
    with requirement("LISTO-007") as check:
        for where, time_ms, level, expected in (
            ("latest, read_uncommitted", LATEST, READ_UNCOMMITTED, 4),
            ("latest, read_committed", LATEST, READ_COMMITTED, 1),
            ("earliest, read_committed", EARLIEST, READ_COMMITTED, 0),
            ("time 0, read_committed", 0, READ_COMMITTED, 0),
        ):
            with check.subtest(where):
                found = _listed(producer, topic, time_ms, api_version, level)
                told = f"{where}: (error, offset) is {found}, expected {(0, expected)}"
                assert found == (0, expected), told
        producer.finish(commit=True)
        for level in (READ_UNCOMMITTED, READ_COMMITTED):
            with check.subtest(f"ended, isolation level {level}"):
                found = _listed(producer, topic, LATEST, api_version, level)
                told = f"ended, isolation level {level}: (error, offset) is {found}"
                assert found == (0, 5), told


@judges("LISTO-007")
@at_versions("ListOffsets", "7+")
def test_largest_timestamp_behind_last_stable_offset_is_not_found(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An older plain record, then one of an open transaction, which has the largest timestamp.

    With read_committed nothing is found.
    """
    producer, topic = TxnProducer(broker, "LISTO-007"), broker.create_topic()
    older = RecordBatch([Record(b"older")], base_timestamp=now_ms() - HOUR_MS)
    append(broker, topic, encode_batch(older))
    producer.write(topic, b"open")
    with requirement("LISTO-007") as check:
        for level, expected in ((READ_UNCOMMITTED, 1), (READ_COMMITTED, -1)):
            with check.subtest(f"open, isolation level {level}"):
                found = _listed(producer, topic, MAX_TIMESTAMP, api_version, level)
                told = f"open, isolation level {level}: (error, offset) is {found}"
                assert found == (0, expected), f"{told}, expected {(0, expected)}"


@judges("LISTO-007")
@at_versions("ListOffsets", "2-3", "4-5", "6+")
def test_list_offsets_finds_no_record_by_time_behind_last_stable_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A time that only the record of an open transaction has: found with read_uncommitted alone."""
    producer, topic = TxnProducer(broker, "LISTO-007"), broker.create_topic()
    producer.write(topic, b"open")
    with requirement("LISTO-007") as check:
        for where, level, expected in (
            ("open, read_uncommitted", READ_UNCOMMITTED, 0),
            ("open, read_committed", READ_COMMITTED, -1),
        ):
            with check.subtest(where):
                found = _listed(producer, topic, 0, api_version, level)
                told = f"{where}: (error, offset) is {found}, expected {(0, expected)}"
                assert found == (0, expected), told
        producer.finish(commit=True)
        with check.subtest("ended"):
            found = _listed(producer, topic, 0, api_version, READ_COMMITTED)
            assert found == (0, 0), f"ended: (error, offset) is {found}, expected (0, 0)"


@judges("FETCH-063")
@at_versions("Fetch", *VERSIONS)
def test_last_stable_offset_is_the_same_for_both_isolation_levels(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of a log without transactions, with an open one, and with one that has ended."""
    producer, topic = TxnProducer(broker, "FETCH-063"), broker.create_topic()
    append(broker, topic, batch_of(b"before"))

    def expect(stable: int, end: int, where: str) -> None:
        for level in (READ_UNCOMMITTED, READ_COMMITTED):
            answer = fetched(producer, topic, api_version, level)
            found = answer.last_stable_offset, answer.high_watermark
            told = f"{where}, isolation level {level}: (LSO, HW) are {found}"
            assert found == (stable, end), f"{told}, expected {(stable, end)}"

    with requirement("FETCH-063"):
        expect(1, 1, "no transaction")
        producer.write(topic, b"one", b"two")
        expect(1, 3, "open")
        producer.finish(commit=True)
        expect(4, 4, "at its end")

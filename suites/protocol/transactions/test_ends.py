"""TXN: the end of a transaction for readers that wait, deleted topics, and epochs that run out."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, WriteTxnMarkersRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from harness.runner.refusal_judged import refusal_judged
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.committed_offsets import Place, expect_codes
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_waits import (
    APPEND_PATIENCE_MS,
    QUIET_MS,
    WOKEN,
    await_waiting,
    within,
)
from suites.protocol.support.fetching import partition_of
from suites.protocol.support.gone_topics import delete_topic
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

READS = ("4-11", "12", "13+")  # versions of Fetch with an isolation level
BOTH = pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
COORDINATOR_EPOCH = 10  # higher than that of any coordinator of the test's broker
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
Marker = WriteTxnMarkersRequest.WritableTxnMarker


@judges("TXN-053")
@at_versions("Fetch", *READS)
@BOTH
def test_end_of_transaction_ends_wait_of_read_committed(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """A fetch of what an open transaction has written; a plain record behind it ends no wait."""
    producer, topic = TxnProducer(broker, "TXN-053"), broker.create_topic()
    producer.write(topic, b"within")
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    wanted = [fetch_topic(topic, api_version, [fetch_partition(0)])]
    request = fetch_request(
        wanted, max_wait_ms=wait_ms, min_bytes=1, isolation_level=READ_COMMITTED
    )
    connection = broker.connect("TXN-053")
    with requirement("TXN-053"):
        with within(WOKEN, wait_ms):
            connection.send(request, api_version)
            await_waiting(broker, connection)
            append(broker, topic, batch_of(b"behind"))
            connection.expect_silence(for_ms=QUIET_MS)
            code = producer.end(commit=commit).error_code
            answer = connection.receive()
        expect_error(code, ErrorCode.NONE, "EndTxn")
        assert isinstance(answer, FetchResponse)
        found = committed_values(partition_of(answer))
        expected = [b"within", b"behind"] if commit else [b"behind"]
        assert found == expected, f"at the end: the values are {found}, expected {expected}"


@judges("TXN-054")
@at_versions("EndTxn", "0-2", "3-4", "5+")
@BOTH
def test_transaction_ends_without_topic_that_is_deleted(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """One of its two topics is deleted while it is open: the other gets its marker.

    The next transaction of the producer writes and commits.
    """
    producer = TxnProducer(broker, "TXN-054", newer=api_version >= 5)
    gone, kept = broker.create_topic(), broker.create_topic()
    for topic in (gone, kept):
        producer.write(topic, b"within")
    delete_topic(broker, gone)
    producer.partitions.discard((gone, 0))
    with requirement("TXN-054"):
        answer = producer.end(commit=commit, version=api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "the end")
        markers = broker.last_seen(lambda: markers_of(producer, kept), bool)
        assert markers == [(1, commit)], f"the other topic: the markers are {markers}"
        if producer.newer:
            producer.take(answer)
        producer.partitions.clear()
        with refusal_judged():
            producer.write(kept, b"next")
        code = producer.end(commit=True, version=api_version).error_code
        expect_error(code, ErrorCode.NONE, "the next commit")
        markers = broker.last_seen(
            lambda: markers_of(producer, kept), lambda found: len(found) == 2
        )
        assert markers == [(1, commit), (3, True)], f"the next commit: the markers are {markers}"


def _expect_aborted(
    producer: TxnProducer, topic: Topic, version: int, start: int, expected: list[tuple[int, int]]
) -> None:
    """Behind the deletion below this offset a fetch from it lists these transactions."""
    delete_records(producer.broker, topic, start)
    answer = fetched(producer, topic, version, READ_COMMITTED, offset=start)
    found = sorted(aborted_in(answer) or [])
    told = f"log start {start}: the aborted transactions are {found}, expected {expected}"
    assert found == expected, told


@judges("TXN-025")
@at_versions("Fetch", *READS)
def test_aborted_transaction_is_listed_while_records_of_it_are_left(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two aborted transactions of three records; DeleteRecords cuts the first, then its rest."""
    producer, topic = TxnProducer(broker, "TXN-025"), broker.create_topic()
    for _ in range(2):
        for value in (b"a", b"b", b"c"):
            producer.write(topic, value)
        producer.finish(commit=False)  # at 3 and 7
    first, second = (producer.id, 0), (producer.id, 4)
    with requirement("TXN-025"):
        _expect_aborted(producer, topic, api_version, 2, [first, second])
        _expect_aborted(producer, topic, api_version, 3, [first, second])
        _expect_aborted(producer, topic, api_version, 4, [second])


@judges("TXN-055")
@at_versions("Fetch", *READS)
def test_list_of_aborted_transactions_is_null_without_isolation_alone(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """With read_committed it is empty where none is aborted, at the end of the log too."""
    producer, topic = TxnProducer(broker, "TXN-055"), broker.create_topic()
    append(broker, topic, batch_of(b"plain"))
    with requirement("TXN-055") as check:
        for offset in (0, 1):
            for level, expected in ((READ_UNCOMMITTED, None), (READ_COMMITTED, [])):
                where = f"isolation level {level}, offset {offset}"
                with check.subtest(where):
                    answer = fetched(producer, topic, api_version, level, offset=offset)
                    found = aborted_in(answer)
                    told = f"{where}: the aborted transactions are {found}, expected {expected}"
                    assert found == expected, told


def _marker(producer: TxnProducer, places: dict[str, list[int]], *, commit: bool) -> Marker:
    topics = [
        WriteTxnMarkersRequest.WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
        for name, indexes in places.items()
    ]
    return Marker(
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        transaction_result=commit,
        coordinator_epoch=COORDINATOR_EPOCH,
        topics=topics,
    )


@judges("TXN-056")
@at_versions("WriteTxnMarkers")
def test_write_txn_markers_answers_each_partition_of_each_producer(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A commit for two partitions, an unknown one and an unknown topic; an abort of another one.

    The commit makes its record visible, and the abort its own not.
    """
    one, two = (TxnProducer(broker, "TXN-056") for _ in range(2))
    topic, missing = broker.create_topic(partitions=3), broker.unique_topic()
    one.write(topic, b"one")
    one.write(topic, b"one", partition=1)
    two.write(topic, b"two", partition=2)
    markers = [
        _marker(one, {topic.name: [0, 77, 1], missing: [0]}, commit=True),
        _marker(two, {topic.name: [2]}, commit=False),
    ]
    with requirement("TXN-056") as check:
        answer = one.connection.ask(WriteTxnMarkersRequest(markers=markers), api_version)
        found: dict[int, dict[Place, int]] = {
            marker.producer_id: {
                (each.name, part.partition_index): part.error_code
                for each in marker.topics
                for part in each.partitions
            }
            for marker in answer.markers
        }
        assert sorted(found) == sorted([one.id, two.id]), f"the producers are {sorted(found)}"
        known = {(topic.name, at): ErrorCode.NONE for at in (0, 1)}
        unknown = {(topic.name, 77): UNKNOWN, (missing, 0): UNKNOWN}
        expect_codes(found[one.id], {**known, **unknown}, "the commit")
        expect_codes(found[two.id], {(topic.name, 2): ErrorCode.NONE}, "the abort")
        reading = broker.reading_version(topic)
        for partition, expected in ((0, [b"one"]), (1, [b"one"]), (2, [])):
            where = f"partition {partition}"
            with check.subtest(where):
                read = fetched(one, topic, reading, READ_COMMITTED, partition=partition)
                values = committed_values(read)
                assert values == expected, f"{where}: the values are {values}, expected {expected}"
                assert len(values_in(read)) == 1, f"{where}: the record is gone"
                end = read.high_watermark
                assert end == 2, f"{where}: a record and its marker end at {end}, expected 2"


@judges("FETCH-062")
@at_versions("Fetch", "7-11", "12", "13+")
def test_isolation_level_of_session_is_that_of_each_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A session that reads committed records alone, then all, then committed ones again."""
    producer, topic = TxnProducer(broker, "FETCH-062"), broker.create_topic()
    producer.write(topic, b"open")
    wanted = [fetch_topic(topic, api_version, [fetch_partition(0)])]
    session_id = 0
    with requirement("FETCH-062") as check:
        for epoch, level in enumerate((READ_COMMITTED, READ_UNCOMMITTED, READ_COMMITTED)):
            where = f"epoch {epoch}, isolation level {level}"
            with check.subtest(where):
                request = fetch_request(wanted, isolation_level=level)
                request.session_id, request.session_epoch = session_id, epoch
                answer = producer.connection.ask(request, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, where)
                session_id = answer.session_id
                parts = [one for each in answer.responses for one in each.partitions]
                found = [value for one in parts for value in values_in(one)]
                expected = [b"open"] if level == READ_UNCOMMITTED else []
                assert found == expected, f"{where}: the values are {found}, expected {expected}"

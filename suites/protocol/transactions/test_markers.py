"""TXN, RECF: the markers with which the broker ends a transaction in each partition (KIP-98)."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.data_framing.control_records import ABORT, COMMIT, read_control_record
from harness.codec.error_code import ErrorCode
from harness.codec.records import CONTROL, TRANSACTIONAL, RecordBatch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import batches_in, records_in
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    fetched,
    is_control,
    markers_of,
)
from suites.protocol.support.transactional import TxnProducer

BATCHES = ("4-11", "12", "13+")  # versions of Fetch that carry batches
BOTH = pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
NEW_EPOCH = 5  # of EndTxn (KIP-890)


@judges("TXN-020")
@at_versions("EndTxn", "0-2", "3-4", "5+")
@BOTH
def test_end_of_transaction_writes_one_marker_to_each_of_its_partitions(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """Two records, one record and none; a partition that a former transaction had gets no more.

    The markers have one record and the producer id of the transaction.
    """
    producer = TxnProducer(broker, "TXN-020", newer=api_version >= NEW_EPOCH)
    topic, other = broker.create_topic(partitions=3), broker.create_topic()
    producer.write(topic, b"former", partition=2)
    producer.finish(commit=not commit)
    producer.write(topic, b"a", b"b")
    producer.write(other, b"c")
    expected = {(topic, 0): [(2, commit)], (other, 0): [(1, commit)], (topic, 1): []}
    if not producer.newer:
        producer.begin({topic: [1]})
        expected[topic, 1] = [(0, commit)]
    with requirement("TXN-020") as check:
        code = producer.end(commit=commit, version=api_version).error_code
        expect_error(code, ErrorCode.NONE, "EndTxn")
        for (where, index), markers in {**expected, (topic, 2): [(1, not commit)]}.items():
            name = f"partition {index} of {'the second' if where is other else 'the first'} topic"
            with check.subtest(name):
                found = broker.last_seen(
                    lambda where=where, index=index: markers_of(producer, where, index),  # type: ignore[misc]
                    lambda found, markers=markers: found == markers,  # type: ignore[misc]
                )
                told = f"{name}: the markers (offset, is a commit) are {found}, expected {markers}"
                assert found == markers, told
                end = broker.end_offset(where, index)
                last = markers[-1][0] + 1 if markers else 0
                assert end == last, f"{name}: the log ends at {end}, expected {last}"


@judges("TXN-039")
@at_versions("Fetch", *BATCHES)
@BOTH
def test_marker_is_no_data_and_takes_an_offset(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """Two records, a marker at offset 2, one record at 3: also in a fetch from the marker on."""
    topic = broker.create_topic()
    producer = TxnProducer(broker, "TXN-039")
    producer.write(topic, b"a", b"b")
    producer.finish(commit=commit)
    with requirement("TXN-039") as check:
        following = broker.produce(topic, batch_of(b"c"))
        expect_error(following.error_code, ErrorCode.NONE, "the next record")
        offset = following.base_offset
        assert offset == 3, f"the record behind the marker has offset {offset}, expected 3"
        for level in (READ_UNCOMMITTED, READ_COMMITTED):
            for start in (0, 2, 3):
                where = f"isolation level {level}, from offset {start}"
                with check.subtest(where):
                    answer = fetched(producer, topic, api_version, level, offset=start)
                    batches = batches_in(record_bytes(answer))
                    found = [(one.base_offset, is_control(one)) for one in batches]
                    expected = [(0, False), (2, True), (3, False)]
                    expected = [one for one in expected if one[0] >= start]
                    told = f"{where}: (offset, is a marker) is {found}, expected {expected}"
                    assert found == expected, told


@judges("TXN-039")
@at_versions("Fetch", "0-1", "2-3")
def test_older_fetch_returns_no_marker(broker: BrokerUnderTest, api_version: int) -> None:
    """The records around two markers, which the older format cannot express."""
    topic = broker.create_topic()
    producer = TxnProducer(broker, "TXN-039")
    producer.write(topic, b"a")
    producer.finish(commit=True)
    producer.write(topic, b"b")
    producer.finish(commit=False)
    append(broker, topic, batch_of(b"c"))
    with requirement("TXN-039"):
        answer = broker.fetch(topic, 0, api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        found = [(one.offset, one.value) for one in records_in(record_bytes(answer))]
        expected = [(0, b"a"), (2, b"b"), (4, b"c")]
        assert found == expected, f"the records are {found}, expected {expected}"


def _one_transaction_of_each_end(
    broker: BrokerUnderTest, client_id: str, configs: dict[str, str] | None = None
) -> tuple[TxnProducer, Topic]:
    """A record and a marker twice, committed and aborted; then a plain record."""
    topic = broker.create_topic(configs=configs)
    producer = TxnProducer(broker, client_id)
    for commit in (True, False):
        producer.write(topic, b"x")
        producer.finish(commit=commit)
    append(broker, topic, batch_of(b"plain"))
    return producer, topic


@judges("RECF-018")
@at_versions("Fetch", *BATCHES)
@pytest.mark.parametrize("codec", ["producer", "gzip"])
def test_attributes_mark_transactional_and_control_batches(
    broker: BrokerUnderTest, api_version: int, codec: str
) -> None:
    """Bit 4 of the batches in transactions and of their markers, bit 5 of the markers alone.

    Also where the broker compresses the batches anew.
    """
    configs = {"compression.type": codec}
    reader, topic = _one_transaction_of_each_end(broker, "RECF-018", configs)
    data, marker = TRANSACTIONAL, TRANSACTIONAL | CONTROL
    with requirement("RECF-018"):
        answer = fetched(reader, topic, api_version, READ_UNCOMMITTED)
        batches = batches_in(record_bytes(answer))
        found = [batch.attributes & (TRANSACTIONAL | CONTROL) for batch in batches]
        expected = [data, marker, data, marker, 0]
        assert found == expected, f"bits 4 and 5 are {found}, expected {expected}"


@judges("RECF-019")
@at_versions("Fetch", *BATCHES)
def test_marker_has_type_in_key_and_coordinator_epoch_in_value(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Key: version 0 and type 1 or 0, four bytes. Value: its version, the coordinator's epoch."""
    reader, topic = _one_transaction_of_each_end(broker, "RECF-019")
    with requirement("RECF-019"):
        answer = fetched(reader, topic, api_version, READ_UNCOMMITTED)
        markers = [batch for batch in batches_in(record_bytes(answer)) if is_control(batch)]
        counts = [len(batch.records) for batch in markers]
        assert counts == [1, 1], f"the markers have {counts} records, expected one each"
        keys = [bytes(batch.records[0].key or b"") for batch in markers]
        expected = [bytes([0, 0, 0, COMMIT]), bytes([0, 0, 0, ABORT])]
        assert keys == expected, f"the keys are {keys}, expected {expected}"
        epochs = [_coordinator_epoch(batch) for batch in markers]
        told = f"the coordinator epochs are {epochs}, expected the same one twice, 0 or more"
        assert epochs == [max(epochs[0], 0)] * 2, told


def _coordinator_epoch(batch: RecordBatch) -> int:
    record = batch.records[0]
    found = read_control_record(bytes(record.key or b""), record.value)
    epoch: int = found.message.coordinator_epoch  # type: ignore[union-attr]
    return epoch

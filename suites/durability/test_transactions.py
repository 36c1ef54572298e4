"""STOR, OTOP: what compaction leaves of transactions, and what their coordinator writes."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.data_framing import TRANSACTION_STATE
from harness.codec.messages import TransactionLogValue
from harness.codec.records import CONTROL, Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.coordinator_log import last_of_each_key
from suites.durability.support.keyed import compacted, records_of_batch
from suites.durability.support.segments import MINUTE_MS
from suites.durability.support.transactions import TransactionalProducer, committed_records
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.compacted import COMPACTED_WITHIN_MS, QUICKLY, batches_of

# One word a record: its key, which transaction or none it is in, and its number.
KEPT = [b"a committed 1", b"b committed 2", b"c plain 2"]
GONE = [b"a aborted 1", b"b committed 1", b"c plain 1"]
BEHIND = [b"d open 1", b"c plain 3", b"c plain 4", b"c plain 5"]


@judges("STOR-017")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_removes_aborted_and_keeps_committed_and_open_records(
    broker: BrokerUnderTest,
) -> None:
    """Compaction removes aborted records, and no committed value because of them.

    It removes nothing from the first open transaction on. A ``read_committed`` consumer finds the
    same values before and after.
    """
    writer = _Writer(broker)
    writer.transaction(b"a committed 1", b"b committed 1", commit=True)
    writer.transaction(b"a aborted 1", commit=False)
    writer.transaction(b"b committed 2", commit=True)
    writer.plain(b"c plain 1", b"c plain 2")
    writer.begin_and_leave_open(BEHIND[0])
    writer.plain(*BEHIND[1:])
    with requirement("STOR-017"):
        left = broker.last_seen(
            writer.values, lambda left: not set(GONE) & set(left), COMPACTED_WITHIN_MS
        )
        assert not set(GONE) & set(left), f"it is not compacted: left is {left}"
        lost = [value for value in KEPT if value not in left]
        assert not lost, f"the last committed values {lost} are gone, left is {left}"
        behind = left[-len(BEHIND) :]
        assert behind == BEHIND, f"from the open transaction on {behind} are left, not {BEHIND}"
        committed = [each.value for each in committed_records(broker, writer.topic)]
        assert committed == KEPT, f"of what is committed {committed} is read, not {KEPT}"
        writer.open.end(commit=True)
        committed = broker.last_seen(
            lambda: [each.value for each in committed_records(broker, writer.topic)],
            lambda found: len(found) == len(KEPT) + len(BEHIND),
        )
        assert committed[-len(BEHIND) :] == BEHIND, f"committed at last: {committed} is read"


class _Writer:
    """Writes a log in which each batch of data begins a segment."""

    def __init__(self, broker: BrokerUnderTest) -> None:
        self.broker, self.topic = broker, compacted(broker)
        self.ended, self.open = (TransactionalProducer(broker, self.topic) for _ in range(2))
        self._time_ms = now_ms()

    def _next_ms(self) -> int:
        """A minute later than the time before, and so later than that of any marker."""
        self._time_ms += MINUTE_MS
        return self._time_ms

    def transaction(self, *values: bytes, commit: bool) -> None:
        """A batch for each value; its first letter is the key."""
        self.ended.begin()
        for value in values:
            self.ended.write(self._next_ms(), (value[:1], value))
        self.ended.end(commit=commit)

    def begin_and_leave_open(self, value: bytes) -> None:
        """Begin a transaction of another producer, and write a value in it."""
        self.open.begin()
        self.open.write(self._next_ms(), (value[:1], value))

    def plain(self, *values: bytes) -> None:
        """Append the values without a transaction."""
        for value in values:
            record = Record(value, value[:1])
            batch = RecordBatch([record], base_timestamp=self._next_ms())
            append(self.broker, self.topic, encode_batch(batch))

    def values(self) -> list[bytes | None]:
        """Return the values of all records that are left, committed or not."""
        batches = batches_of(self.broker, self.topic)
        plain = [batch for batch in batches if not batch.attributes & CONTROL]
        return [each.value for batch in plain for each in records_of_batch(batch)]


@judges("OTOP-006")
def test_transaction_state_topic_has_record_for_each_transactional_id(
    broker: BrokerUnderTest,
) -> None:
    """By the last record of its key: the producer's id and epoch, and the partition written to."""
    topic = broker.create_topic(partitions=2)
    producers = [TransactionalProducer(broker, topic, partition) for partition in (0, 1)]
    for producer in producers:
        producer.begin()
    with requirement("OTOP-006"):
        found = last_of_each_key(broker, TRANSACTION_STATE)
        for producer in producers:
            value = found.get(("TransactionLog", producer.id))
            assert isinstance(value, TransactionLogValue), f"of {producer.id} is written {value}"
            wrote = value.producer_id, value.producer_epoch, _partitions(value)
            expected = (
                producer.producer_id,
                producer.epoch,
                [(topic.name, [producer.partition])],
            )
            assert wrote == expected, f"of {producer.id} is written {wrote}, not {expected}"
    for producer in producers:
        producer.end(commit=False)


def _partitions(value: TransactionLogValue) -> list[tuple[str, list[int]]]:
    return [(each.topic, list(each.partition_ids)) for each in value.transaction_partitions or ()]

"""The transactions in a partition as a Fetch returns them: markers, LSO, aborted transactions.

Tests read on the connection of a producer, so that requests of one requirement have one client id.
"""

from __future__ import annotations

from harness.client.aborted_producers import AbortedProducers
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.data_framing.control_records import COMMIT, read_control_type
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.codec.records import CONTROL, RecordBatch
from harness.codec.records.any_format import NO_LIMIT, read_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import batches_in
from suites.protocol.support.transactional import TxnProducer

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
"""Values of the isolation level."""
Marker = tuple[int, bool]
"""The offset of a marker; True if it is a commit."""


def is_control(batch: RecordBatch) -> bool:
    """True if the batch has control records."""
    return bool(batch.attributes & CONTROL)


def markers_in(batches: list[RecordBatch]) -> list[Marker]:
    """The markers among these batches."""
    return [
        (batch.base_offset, read_control_type(bytes(record.key or b"")) == COMMIT)
        for batch in batches
        if is_control(batch)
        for record in batch.records
    ]


def markers_of(reader: TxnProducer, topic: Topic, partition: int = 0) -> list[Marker]:
    """The markers of a partition, in order."""
    version = reader.broker.reading_version(topic)
    answer = fetched(reader, topic, version, READ_UNCOMMITTED, partition=partition)
    return markers_in(batches_in(record_bytes(answer)))


def fetched(
    reader: TxnProducer,
    topic: Topic,
    version: int,
    isolation_level: int,
    *,
    offset: int = 0,
    partition: int = 0,
) -> FetchResponse.PartitionData:
    """The answer of one Fetch, which has no error."""
    wanted = fetch_topic(topic, version, [fetch_partition(offset, partition=partition)])
    request = fetch_request([wanted], isolation_level=isolation_level)
    found = only(reader.connection.ask(request, version).responses, "topic")
    answer = only(found.partitions, "partition")
    expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
    return answer


def stable_offset(reader: TxnProducer, topic: Topic, partition: int = 0) -> int:
    """The last stable offset, at the highest version."""
    version = reader.broker.reading_version(topic)
    answer = fetched(reader, topic, version, READ_COMMITTED, partition=partition)
    return answer.last_stable_offset


def values_in(answer: FetchResponse.PartitionData) -> list[bytes | None]:
    """The values of all data records, aborted ones too."""
    batches = batches_in(record_bytes(answer))
    return [record.value for batch in batches if not is_control(batch) for record in batch.records]


def aborted_in(answer: FetchResponse.PartitionData) -> list[tuple[int, int]] | None:
    """Producer id and first offset of each aborted transaction, in order; None for null."""
    if answer.aborted_transactions is None:
        return None
    return [(one.producer_id, one.first_offset) for one in answer.aborted_transactions]


def committed_values(answer: FetchResponse.PartitionData) -> list[bytes | None]:
    """The values that a consumer with ``read_committed`` delivers of the answer.

    A consumer leaves out what an aborted transaction wrote between its first offset and its marker.
    """
    aborted = AbortedProducers()
    aborted.take(answer.aborted_transactions)
    reading = read_records(record_bytes(answer), limit_bytes=NO_LIMIT)
    assert not reading.problems, f"records that cannot be read: {reading.problems[0]}"
    kept = [batch for batch in reading.batches if not aborted.leaves_out(batch)]
    return [record.value for batch in kept for record in batch.records]

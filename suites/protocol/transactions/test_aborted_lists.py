"""TXN: the aborted transactions of a part of the log, and those without records (KIP-98)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    aborted_in,
    committed_values,
    fetched,
    stable_offset,
    values_in,
)
from suites.protocol.support.transactional import TxnProducer

READS = ("4-12", "13+")  # versions of Fetch with isolation levels: by name and by id
DENSE = {"index.interval.bytes": "0"}
"""With an entry of the index for each batch a broker knows where a short read ends."""
ONE_BYTE = 1


def _first_batch(reader: TxnProducer, topic: Topic, version: int) -> FetchResponse.PartitionData:
    """Fetch with read_committed, and with room for one byte: the broker returns a whole batch."""
    wanted = fetch_partition(0, partition_max_bytes=ONE_BYTE)
    request = fetch_request([fetch_topic(topic, version, [wanted])], isolation_level=READ_COMMITTED)
    found = only(reader.connection.ask(request, version).responses, "topic")
    answer = only(found.partitions, "partition")
    expect_error(answer.error_code, ErrorCode.NONE, "Fetch of one batch")
    return answer


@judges("TXN-025")
@at_versions("Fetch", *READS)
def test_short_read_lists_aborted_transaction_that_ends_behind_another_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The first transaction begins before the second one, and is aborted after it."""
    first, second = (TxnProducer(broker, "TXN-025") for _ in range(2))
    topic = broker.create_topic(configs=DENSE)
    first.write(topic, b"first")
    second.write(topic, b"second")
    first.write(topic, b"first, too")
    second.finish(commit=False)
    first.write(topic, b"first again")
    first.finish(commit=False)
    with requirement("TXN-025"):
        answer = _first_batch(first, topic, api_version)
        values = values_in(answer)
        assert values[:1] == [b"first"], f"a short read returns {values}"
        found = aborted_in(answer) or []
        told = f"from offset 0: the aborted transactions of a short read are {found}"
        assert (first.id, 0) in found, f"{told}, without {(first.id, 0)}"
        found_values = committed_values(answer)
        assert not found_values, f"all is aborted, and a consumer delivers {found_values}"


@judges("TXN-071")
@at_versions("Fetch", *READS)
def test_aborted_transaction_without_records_is_not_listed(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The partition has only its marker, at offset 0; the next transaction commits a record."""
    producer, topic = TxnProducer(broker, "TXN-071"), broker.create_topic()
    producer.begin({topic: [0]})
    producer.finish(commit=False)
    producer.write(topic, b"committed")
    producer.finish(commit=True)
    with requirement("TXN-071"):
        answer = fetched(producer, topic, api_version, READ_COMMITTED)
        found = aborted_in(answer) or []
        assert found == [], f"none is aborted: the aborted transactions are {found}"
        values = committed_values(answer)
        assert values == [b"committed"], f"none is aborted: a consumer delivers {values}"
        stable = stable_offset(producer, topic)
        assert stable == 3, f"none is aborted: the last stable offset is {stable}, expected 3"

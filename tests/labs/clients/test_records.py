"""A client reads the records that it has sent, to the last header; with every codec."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.clients.records import BEGAN_MS, FOR_EVER, STEP_MS, in_partition, numbered, sent
from harness.clients.vocabulary import CODECS
from harness.codec.records import decode_batches
from labs.clients.here import Here, for_clients

RECORDS = [
    sent(0, 0, key="first", value="one", headers=[("a", "1"), ("b", "2"), ("a", "3")]),
    sent(1, 1, key="ключ", value="значение ✓", headers=[("empty", "")]),
    sent(0, 2, key=None, value="no key"),
    sent(0, 3, key="tombstone", value=None),
    sent(1, 4, key="", value=""),
    sent(0, 5, key="long", value="compressible " * 500),
]
LATER_MS = BEGAN_MS + 2 * STEP_MS + 1


@pytest.mark.parametrize("codec", CODECS)
@for_clients("produce", "read")
def test_records_are_read_equal_with_every_codec(
    client: Here, broker: BrokerUnderTest, name: str, codec: str
) -> None:
    calls = client.calls
    client.create(name, 2, FOR_EVER)
    offsets = calls.produce(name, RECORDS, codec)
    assert offsets == [[0, 0], [1, 0], [0, 1], [0, 2], [1, 1], [0, 3]]
    for partition, count in ((0, 4), (1, 2)):
        assert calls.read(name, partition, 0, count) == in_partition(RECORDS, partition)
    assert calls.read(name, 0, 2, 2) == in_partition(RECORDS, 0, offset=2)
    assert stored_codec(broker, name) == codec


def stored_codec(broker: BrokerUnderTest, name: str) -> str:
    """Of the last batch of partition 0, read by our own client.

    It has the long record: a client that was slow sends several batches, and some leave one as it
    is that compression would make no smaller.
    """
    answer = broker.fetch(Topic(name), 0, partition=0)
    *_, last = decode_batches(bytes(answer.records or b""))
    return last.compression


@for_clients("offsets_for_times")
def test_offsets_for_times_returns_first_offset_at_or_after_time(client: Here, name: str) -> None:
    calls = client.calls
    client.create(name, 3, FOR_EVER)
    client.writer.produce(name, numbered(partitions=2, each=5))
    assert calls.offsets_for_times(name, {0: BEGAN_MS, 1: LATER_MS}) == {0: 0, 1: 3}
    assert calls.offsets_for_times(name, {0: BEGAN_MS - 1, 1: LATER_MS - 1}) == {0: 0, 1: 2}
    after_all_ms = BEGAN_MS + 4 * STEP_MS + 1
    found = calls.offsets_for_times(name, {0: after_all_ms - 1, 1: after_all_ms, 2: BEGAN_MS})
    assert found == {0: 4, 1: None, 2: None}


@for_clients("produce", "read_from_time")
def test_consumer_reads_from_timestamp(client: Here, name: str) -> None:
    calls = client.calls
    client.create(name, 2, FOR_EVER)
    records = numbered(partitions=2, each=5)
    calls.produce(name, records)
    assert calls.read_from_time(name, 1, LATER_MS, 2) == in_partition(records, 1, offset=3)

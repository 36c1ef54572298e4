"""IDEM, TXN: batches of a producer that the broker refuses, and the state that they leave."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest
from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.healthy import healthy
from suites.protocol.support.idempotent import IdempotentProducer, expect_taken_again, new_producer
from suites.protocol.support.partition_log import UntouchedLog, keys_and_values, stored_batches

LIMIT_BYTES = 1000
EPOCH, NEXT, GAP = 1, 1, 7  # of the producer; its next sequence, and one that is too high


def _keyed(
    producer: IdempotentProducer,
    sequence: int,
    value: bytes = b"value",
    key: bytes | None = b"key",
    attributes: int = 0,
) -> bytes:
    return encode_batch(
        RecordBatch(
            [Record(value, key)],
            base_timestamp=now_ms(),
            attributes=attributes,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            base_sequence=sequence,
        )
    )


Refused = Callable[[IdempotentProducer], bytes]
TOO_LARGE = b"x" * LIMIT_BYTES
REFUSED: dict[str, Refused] = {
    "a gap": lambda one: _keyed(one, GAP),
    "a raised epoch in mid-sequence": lambda one: _keyed(one.at_epoch(EPOCH + 1), NEXT),
    "a raised epoch too large": lambda one: _keyed(one.at_epoch(EPOCH + 1), 0, TOO_LARGE),
    "a raised epoch without a key": lambda one: _keyed(one.at_epoch(EPOCH + 1), 0, key=None),
    "a lower epoch": lambda one: _keyed(one.at_epoch(EPOCH - 1), NEXT),
    "too large": lambda one: _keyed(one, NEXT, TOO_LARGE),
    "without a key": lambda one: _keyed(one, NEXT, key=None),
    "a control batch": lambda one: _keyed(one, NEXT, attributes=CONTROL),
}


@judges("IDEM-027")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_refused_batch_leaves_state_of_its_producer(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """After each refusal the batch before is a repetition, and the batch that was next is next.

    A producer for each; all write to one compacted topic with a limit of size.
    """
    configs = {"cleanup.policy": "compact", "max.message.bytes": str(LIMIT_BYTES)}
    topic = broker.create_topic(configs=configs)
    with requirement("IDEM-027") as check:
        for where, refused in REFUSED.items():
            with check.subtest(where):
                producer = new_producer(broker).at_epoch(EPOCH)
                append(broker, topic, _keyed(producer, 0))
                code = broker.produce(topic, refused(producer), api_version).error_code
                if code == ErrorCode.NONE:
                    raise NotApplicable("refused_batches", f"{where}: such a batch is taken")
                _expect_state(broker, topic, producer, api_version, where)


def _expect_state(
    broker: BrokerUnderTest, topic: Topic, producer: IdempotentProducer, version: int, where: str
) -> None:
    """Sequence 0 is a repetition, and the next sequence is the next one."""
    end = broker.end_offset(topic)
    again = broker.produce(topic, _keyed(producer, 0), version)
    expect_taken_again(again.error_code, f"{where}, then the batch before once more")
    following = broker.produce(topic, _keyed(producer, NEXT), version)
    expect_error(following.error_code, ErrorCode.NONE, f"{where}, then the next batch")
    begin = following.base_offset
    assert begin == end, f"{where}, then the next batch: it is at {begin}, expected {end}"


@judges("IDEM-030")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_repetition_that_is_no_good_batch_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The sequence of the last batch, with a byte of its value changed, or with a record that is
    too large: neither is acknowledged, and both leave the log alone. The batch itself is."""
    topic = broker.create_topic(configs={"max.message.bytes": str(LIMIT_BYTES)})
    producer = new_producer(broker)
    sent = _keyed(producer, 0)
    append(broker, topic, sent)
    log = UntouchedLog(broker, topic)
    changed = bytearray(sent)
    changed[changed.rindex(b"value")] ^= 1
    with requirement("IDEM-030") as check:
        with check.subtest("a changed byte"):
            where, error = "sequence 0 again with a changed byte", ErrorCode.CORRUPT_MESSAGE
            log.expect_refusal(bytes(changed), api_version, error, where)
        with check.subtest("too large"):
            batch, where = _keyed(producer, 0, TOO_LARGE), "sequence 0 again, too large"
            log.expect_refusal(batch, api_version, ErrorCode.MESSAGE_TOO_LARGE, where)
        again = broker.produce(topic, sent, api_version)
        expect_taken_again(again.error_code, "sequence 0 again as it was")


@judges("IDEM-031")
@at_versions("Produce", "3-8", "9-12", "13+")
@pytest.mark.parametrize("acks", [0, 1])
def test_sequences_are_checked_whatever_acks_is(
    broker: BrokerUnderTest, api_version: int, acks: int
) -> None:
    """The last batch again, one behind a gap, the next one: the last alone is appended.

    Each has a connection of its own, since a refusal without acks closes it.
    """
    topic, producer = broker.create_topic(), new_producer(broker)
    append(broker, topic, producer.batch(0, b"first"))
    with requirement("IDEM-031"):
        _send(broker, producer.request(topic, api_version, 0, b"first"), api_version, acks)
        gap = producer.request(topic, api_version, GAP, b"behind a gap")
        _send(broker, gap, api_version, acks, closes=True)
        _send(broker, producer.request(topic, api_version, NEXT, b"next"), api_version, acks)
        stored = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        told = f"acks {acks}: the log holds {stored}, expected first and next"
        assert stored == [b"first", b"next"], told


def _send(
    broker: BrokerUnderTest, request: ProduceRequest, version: int, acks: int, closes: bool = False
) -> None:
    """Send the request with these acks, and wait until the broker has read it.

    ``closes``: what is refused without acks closes the connection.
    """
    request.acks = acks
    connection = broker.connect(f"IDEM-031 {acks}")
    connection.send(request, version)
    if acks:
        connection.receive()
        return
    if closes:
        connection.expect_closed()
    else:
        connection.send(healthy(broker), 0)
        connection.receive()


@judges("TXN-012")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_transactional_batch_without_transactional_id_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """In the first and in the second partition of a request; the other one has a plain batch."""
    topic, producer = broker.create_topic(partitions=2), new_producer(broker)
    logs = [UntouchedLog(broker, topic, partition) for partition in range(2)]
    request = produce_request(topic, None, api_version)
    refusal = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    with requirement("TXN-012") as check:
        for place in range(2):
            with check.subtest(f"in partition {place}"):
                logs[place].renew()
                request.topic_data[0].partition_data = [
                    ProduceRequest.PartitionProduceData(index=one, records=batch_of(b"plain"))
                    for one in range(2)
                ]
                transactional = _keyed(producer, 0, attributes=TRANSACTIONAL)
                request.topic_data[0].partition_data[place].records = transactional
                topic_answer = only(broker.ask(request, api_version).responses, "topic")
                codes = {one.index: one.error_code for one in topic_answer.partition_responses}
                expect_error(codes[place], refusal, f"a transactional batch in partition {place}")
                logs[place].expect_untouched(f"partition {place}")

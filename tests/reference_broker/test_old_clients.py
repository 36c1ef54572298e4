"""librdkafka as it talks to old brokers: message sets in, message sets out."""

import time
from collections.abc import Iterator

import confluent_kafka
import pytest

from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.running import Address, create_topic, running_broker

RECORDS = 50
# What the client takes the broker for, and whether the messages of that time have timestamps.
RELEASES = {"0.9.0.1": False, "0.10.0.0": True}


@pytest.fixture(scope="module")
def broker() -> Iterator[Address]:
    with running_broker() as address:
        yield address


def _settings(address: Address, release: str) -> dict[str, str | int | bool]:
    return {
        "bootstrap.servers": f"{address[0]}:{address[1]}",
        "api.version.request": False,
        "broker.version.fallback": release,
        "log_level": 2,  # warnings that these settings will be gone one day
    }


def _produce(settings: dict[str, str | int | bool], topic: str, codec: str) -> list[int]:
    offsets: list[int] = []
    problems: list[object] = []

    def delivered(error: object, message: confluent_kafka.Message) -> None:
        problems.extend([error] if error else [])
        offsets.append(message.offset() or 0)

    producer = confluent_kafka.Producer(
        {**settings, "compression.type": codec, "batch.num.messages": 20, "linger.ms": 5}
    )
    for number in range(RECORDS):
        value = f"value {number}" * 10
        producer.produce(topic, value, f"key {number}", partition=0, on_delivery=delivered)
    assert producer.flush(20) == 0
    assert not problems
    return offsets


def _consume(settings: dict[str, str | int | bool], topic: str) -> list[confluent_kafka.Message]:
    consumer = confluent_kafka.Consumer(
        {**settings, "group.id": "unused", "enable.auto.commit": False, "check.crcs": True}
    )
    try:
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        found: list[confluent_kafka.Message] = []
        deadline = time.monotonic() + HANGS_AFTER_S
        while len(found) < RECORDS and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None:
                assert message.error() is None
                found.append(message)
        return found
    finally:
        consumer.close()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("release", RELEASES)
def test_librdkafka_in_old_broker_mode_reads_its_own_records(
    broker: Address, release: str, codec: str
) -> None:
    topic = f"old-{release}-{codec}"
    create_topic(broker, topic)
    settings = _settings(broker, release)
    assert sorted(_produce(settings, topic, codec)) == list(range(RECORDS))
    found = _consume(settings, topic)
    assert [message.offset() for message in found] == list(range(RECORDS))
    for number, message in enumerate(found):
        assert message.key() == f"key {number}".encode()
        assert message.value() == f"value {number}".encode() * 10
        has_time = message.timestamp()[0] != confluent_kafka.TIMESTAMP_NOT_AVAILABLE
        assert has_time == RELEASES[release]

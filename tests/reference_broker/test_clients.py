"""Unmodified third-party clients, with assigned partitions."""

import threading
import time
import warnings
from collections.abc import Iterator

import confluent_kafka
import pytest

from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.running import Address, create_topic, running_broker

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its files in a way that Python warns of
    import kafka

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:kafka")

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
RECORDS = 300


@pytest.fixture(scope="module")
def broker() -> Iterator[Address]:
    with running_broker() as address:
        yield address


def bootstrap(address: Address) -> str:
    return f"{address[0]}:{address[1]}"


def confluent_produce(address: Address, topic: str, codec: str) -> None:
    problems: list[object] = []
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap(address),
            "compression.type": codec,
            "enable.idempotence": True,
            "batch.num.messages": 50,
            "linger.ms": 5,
        }
    )
    for number in range(RECORDS):
        producer.produce(
            topic,
            f"value {number}" * 10,
            f"key {number}",
            partition=0,
            headers=[("number", str(number).encode()), ("empty", None)],
            on_delivery=lambda error, _: problems.append(error) if error else None,
        )
    assert producer.flush(HANGS_AFTER_S) == 0
    assert not problems


def confluent_consume(address: Address, topic: str) -> list[tuple[object, ...]]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap(address),
            "group.id": "unused",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    try:
        start = confluent_kafka.OFFSET_BEGINNING
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, start)])
        found: list[tuple[object, ...]] = []
        deadline = time.monotonic() + HANGS_AFTER_S
        while len(found) < RECORDS and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None:
                assert message.error() is None
                headers = message.headers()
                found.append((message.offset(), message.key(), message.value(), headers))
        return found
    finally:
        consumer.close()


def kafka_python_produce(address: Address, topic: str, codec: str) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=bootstrap(address),
        compression_type=None if codec == "none" else codec,
        batch_size=1000,
        linger_ms=5,
    )
    try:
        sent = [
            producer.send(
                topic,
                f"value {number}".encode() * 10,
                f"key {number}".encode(),
                partition=0,
                headers=[("number", str(number).encode())],
            )
            for number in range(RECORDS)
        ]
        assert [future.get(20).offset for future in sent] == list(range(RECORDS))
    finally:
        producer.close(5)


def kafka_python_consume(address: Address, topic: str) -> list[tuple[object, ...]]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap(address),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        consumer_timeout_ms=20_000,
    )
    try:
        partition = kafka.TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        found: list[tuple[object, ...]] = []
        for message in consumer:
            found.append((message.offset, message.key, message.value, list(message.headers)))
            if len(found) == RECORDS:
                break
        return found
    finally:
        consumer.close()


PRODUCERS = {"confluent": confluent_produce, "kafka-python": kafka_python_produce}
CONSUMERS = {"confluent": confluent_consume, "kafka-python": kafka_python_consume}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("producer", PRODUCERS)
def test_each_client_reads_records_of_each_client_and_codec(
    broker: Address, producer: str, codec: str
) -> None:
    topic = f"{producer}-{codec}"
    create_topic(broker, topic)
    PRODUCERS[producer](broker, topic, codec)
    for consume in CONSUMERS.values():
        found = consume(broker, topic)
        assert [record[0] for record in found] == list(range(RECORDS))
        assert [record[1] for record in found] == [f"key {n}".encode() for n in range(RECORDS)]
        assert found[7][2] == b"value 7" * 10
        headers = found[7][3]
        assert isinstance(headers, list)
        assert tuple(headers[0]) == ("number", b"7")


def test_waiting_consumer_receives_produced_record(broker: Address) -> None:
    create_topic(broker, "awaited")
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap(broker),
            "group.id": "unused",
            "fetch.wait.max.ms": 15_000,
            "socket.timeout.ms": 60_000,
        }
    )
    try:
        consumer.assign([confluent_kafka.TopicPartition("awaited", 0, 0)])
        assert consumer.poll(1) is None
        producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap(broker)})
        producer.produce("awaited", b"here")
        threading.Thread(target=producer.flush, args=(10,)).start()
        message = consumer.poll(10)
        assert message is not None
        assert message.value() == b"here"
    finally:
        consumer.close()


def test_client_finds_offset_for_timestamp_and_log_ends(broker: Address) -> None:
    create_topic(broker, "timed")
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap(broker)})
    for number in range(10):
        producer.produce("timed", b"v", timestamp=1_700_000_000_000 + number * 100)
    assert producer.flush(HANGS_AFTER_S) == 0
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap(broker), "group.id": "unused"}
    )
    try:
        wanted = confluent_kafka.TopicPartition("timed", 0, 1_700_000_000_450)
        (found,) = consumer.offsets_for_times([wanted], timeout=HANGS_AFTER_S)
        assert found.offset == 5
        ends = consumer.get_watermark_offsets(
            confluent_kafka.TopicPartition("timed", 0), HANGS_AFTER_S
        )
        assert ends == (0, 10)
    finally:
        consumer.close()

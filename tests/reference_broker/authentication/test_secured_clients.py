"""Clients of other projects over SASL_SSL with SCRAM."""

from __future__ import annotations

import time
import warnings

import confluent_kafka
import pytest

from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.authentication.conftest import Secured

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its files in a way that Python warns of
    import kafka

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:kafka")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
VALUES = [f"value {number}".encode() for number in range(20)]


def of_librdkafka(secured: Secured, mechanism: str, **more: str) -> dict[str, str]:
    return {
        "bootstrap.servers": str(secured.address),
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": secured.ca,
        "sasl.mechanism": mechanism,
        "sasl.username": "judge",
        "sasl.password": secured.password,
        **{name.replace("_", "."): value for name, value in more.items()},
    }


def of_kafka_python(secured: Secured, mechanism: str) -> dict[str, object]:
    return {
        "bootstrap_servers": str(secured.address),
        "security_protocol": "SASL_SSL",
        "ssl_cafile": secured.ca,
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "judge",
        "sasl_plain_password": secured.password,
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_writes_and_reads(secured: Secured, mechanism: str) -> None:
    topic, problems = f"confluent-{mechanism}", list[object]()
    producer = confluent_kafka.Producer(of_librdkafka(secured, mechanism))
    for value in VALUES:
        producer.produce(
            topic, value, on_delivery=lambda error, _: problems.append(error) if error else None
        )
    assert producer.flush(HANGS_AFTER_S) == 0
    assert not problems
    consumer = confluent_kafka.Consumer(
        of_librdkafka(secured, mechanism, group_id=topic, auto_offset_reset="earliest")
    )
    try:
        consumer.subscribe([topic])
        found: list[bytes | None] = []
        deadline = time.monotonic() + HANGS_AFTER_S
        while len(found) < len(VALUES) and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                found.append(message.value())
        assert found == VALUES
    finally:
        consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_writes_and_reads(secured: Secured, mechanism: str) -> None:
    topic, settings = f"python-{mechanism}", of_kafka_python(secured, mechanism)
    producer = kafka.KafkaProducer(**settings)
    for value in VALUES:
        producer.send(topic, value)
    producer.flush(HANGS_AFTER_S)
    producer.close()
    consumer = kafka.KafkaConsumer(
        topic,
        group_id=topic,
        auto_offset_reset="earliest",
        consumer_timeout_ms=HANGS_AFTER_S * 1000,
        **settings,
    )
    try:
        assert [record.value for _, record in zip(VALUES, consumer, strict=False)] == VALUES
    finally:
        consumer.close()


def test_a_wrong_password_is_reported_as_one(secured: Secured) -> None:
    said: list[confluent_kafka.KafkaError] = []
    wrong = {**of_librdkafka(secured, "SCRAM-SHA-256"), "sasl.password": "wrong"}
    producer = confluent_kafka.Producer({**wrong, "error_cb": said.append})
    deadline = time.monotonic() + HANGS_AFTER_S
    while not said and time.monotonic() < deadline:
        producer.poll(1)
    assert said[0].code() == confluent_kafka.KafkaError._AUTHENTICATION

"""Records through confluent-kafka with its defaults: produced, and read again."""

from __future__ import annotations

import itertools
import time

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

LIMIT_S = 120
READ_AT_ONCE = 10_000
_NAMES = itertools.count(1)


class LoadFailed(Exception):
    """Records were lost, refused or did not come in time."""


def new_topic(bootstrap: str, *, made: bool) -> str:
    """Return the name of a new topic; create it with one partition if ``made``.

    Without ``made`` the broker has to create it automatically.
    """
    name = f"bench-{next(_NAMES)}"
    if not made:
        return name
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([NewTopic(name, 1, 1)]).values():
        created.result(LIMIT_S)
    return name


def produce(bootstrap: str, topic: str, size: int, count: int) -> float:
    """Records a second, from the first call until all are acknowledged."""
    failed: list[str] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(str(error))

    producer = Producer({"bootstrap.servers": bootstrap, "on_delivery": delivered})
    producer.list_topics(topic, timeout=LIMIT_S)
    value = bytes(range(256)) * (size // 256 + 1)
    value = value[:size]
    began = time.perf_counter()
    for number in range(count):
        while True:
            try:
                producer.produce(topic, value, partition=0)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 10_000 == 0:
            producer.poll(0)
    left = producer.flush(LIMIT_S)
    took = time.perf_counter() - began
    if left or failed:
        raise LoadFailed(f"{left} records are not acknowledged, {len(failed)} refused {failed[:1]}")
    return count / took


def _read(consumer: Consumer, timeout_s: float) -> int:
    """Consume at most ``READ_AT_ONCE`` records and return the number that arrived."""
    return sum(1 for one in consumer.consume(READ_AT_ONCE, timeout_s) if one.error() is None)


def consume(bootstrap: str, topic: str, count: int) -> float:
    """Records a second, from the first that come until all are there.

    Before that the client looks for its broker; and left to itself it pauses for a second whenever
    it has 100,000 records in hand, which would be most of what is measured.
    """
    own = {"group.id": "bench", "enable.auto.commit": False, "fetch.queue.backoff.ms": 1}
    consumer = Consumer({"bootstrap.servers": bootstrap, **own})
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        first = _read(consumer, LIMIT_S)
        began, got = time.perf_counter(), first
        while got < count:
            if time.perf_counter() - began > LIMIT_S:
                raise LoadFailed(f"{got} of {count} records came within {LIMIT_S} s")
            got += _read(consumer, 1.0)
        return (count - first) / (time.perf_counter() - began)
    finally:
        consumer.close()

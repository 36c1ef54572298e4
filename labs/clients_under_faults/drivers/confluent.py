"""confluent-kafka, which is librdkafka."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from labs.clients_under_faults.drivers.reading import Found, read_all
from labs.clients_under_faults.job import CONSUMER, PRODUCER, Job
from labs.clients_under_faults.notes import ClientNotes

POLL_S = 0.1
ASK_S = 2.0
SETUP_MS = 1000  # the least that it takes


def run(job: Job, notes: ClientNotes) -> None:
    consuming = threading.Thread(target=_consume, args=(job, notes), name=CONSUMER)
    consuming.start()
    _produce(job, notes)
    consuming.join()


def _shared(job: Job, notes: ClientNotes, process: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": job.bootstrap,
        "broker.address.family": "v4",
        "socket.timeout.ms": job.request_timeout_ms,
        "socket.connection.setup.timeout.ms": SETUP_MS,
        "reconnect.backoff.ms": job.backoff_ms,
        "reconnect.backoff.max.ms": job.longest_backoff_ms,
        "retry.backoff.ms": job.backoff_ms,
        "retry.backoff.max.ms": job.longest_backoff_ms,
        "error_cb": partial(notes.trouble, process),
    }


def _produce(job: Job, notes: ClientNotes) -> None:
    producer = Producer(
        {
            **_shared(job, notes, PRODUCER),
            "enable.idempotence": job.idempotent,
            "acks": "all",
            "request.timeout.ms": job.request_timeout_ms,
            "message.timeout.ms": job.delivery_timeout_ms,
            "max.in.flight.requests.per.connection": job.in_flight,
            "linger.ms": job.linger_ms,
            "batch.size": job.batch_bytes,
        }
    )

    def delivered(name: str, partition: int, error: KafkaError | None, message: Message) -> None:
        if error is None:
            notes.acknowledged(name, partition, message.offset())
        else:
            notes.given_up(name, partition, error)

    for number, (name, partition) in enumerate(job.names()):
        while left_s := notes.seconds_until(number):  # poll returns as soon as it has news
            producer.poll(left_s)
        notes.sending(name, partition)
        tell = partial(delivered, name, partition)
        try:
            producer.produce(job.topic, job.payload(name), partition=partition, on_delivery=tell)
        except (KafkaException, BufferError) as problem:
            notes.not_sent(name, partition, problem)
    while producer.flush(POLL_S):
        pass
    notes.produced()


def _consume(job: Job, notes: ClientNotes) -> None:
    consumer = Consumer(
        {
            **_shared(job, notes, CONSUMER),
            "group.id": "assigned",  # it must have one, and never uses it
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": job.fetch_wait_ms,
            "fetch.error.backoff.ms": job.backoff_ms,
        }
    )
    consumer.assign([TopicPartition(job.topic, each, 0) for each in range(job.partitions)])

    def poll() -> Found:
        for message in consumer.consume(100, POLL_S):
            if message.error() is not None:
                notes.trouble(CONSUMER, message.error())
                continue
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            yield partition, offset, message.value()

    def ends() -> Mapping[int, int]:
        found = {}
        for each in range(job.partitions):
            _, end = consumer.get_watermark_offsets(TopicPartition(job.topic, each), ASK_S)
            found[each] = end
        return found

    read_all(job, notes, poll, ends)
    consumer.close()

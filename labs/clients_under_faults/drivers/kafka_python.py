"""kafka-python."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError, KafkaTimeoutError

from labs.clients_under_faults.drivers.reading import Found, read_all
from labs.clients_under_faults.job import CONSUMER, PRODUCER, Job
from labs.clients_under_faults.notes import BACKOFF_S, ClientNotes

POLL_MS = 100
FLUSH_S = 0.2


def run(job: Job, notes: ClientNotes) -> None:
    consuming = threading.Thread(target=_consume, args=(job, notes), name=CONSUMER)
    consuming.start()
    _produce(job, notes)
    consuming.join()


def _shared(job: Job) -> dict[str, Any]:
    return {
        "bootstrap_servers": job.bootstrap,
        "request_timeout_ms": job.request_timeout_ms,
        "retry_backoff_ms": job.backoff_ms,
        "reconnect_backoff_ms": job.backoff_ms,
        "reconnect_backoff_max_ms": job.longest_backoff_ms,
    }


def _made(make: Callable[[], Any], notes: ClientNotes, process: str) -> Any:
    """It asks the brokers when it is made, and raises when none answers."""
    while True:
        try:
            return make()
        except KafkaError as problem:
            notes.trouble(process, problem)
            time.sleep(BACKOFF_S)


def _produce(job: Job, notes: ClientNotes) -> None:
    settings = {
        **_shared(job),
        "enable_idempotence": job.idempotent,
        "acks": "all",
        "delivery_timeout_ms": job.delivery_timeout_ms,
        "max_block_ms": job.delivery_timeout_ms,
        "max_in_flight_requests_per_connection": job.in_flight,
        "linger_ms": job.linger_ms,
        "batch_size": job.batch_bytes,
    }
    producer = _made(lambda: KafkaProducer(**settings), notes, PRODUCER)

    def delivered(name: str, partition: int, metadata: Any) -> None:
        notes.acknowledged(name, partition, metadata.offset)

    for number, (name, partition) in enumerate(job.names()):
        time.sleep(notes.seconds_until(number))
        notes.sending(name, partition)
        try:
            sent = producer.send(job.topic, job.payload(name), partition=partition)
        except KafkaError as problem:
            notes.not_sent(name, partition, problem)
            continue
        sent.add_callback(partial(delivered, name, partition))
        sent.add_errback(partial(notes.given_up, name, partition))
    _flush(producer)
    notes.produced()
    producer.close()


def _flush(producer: Any) -> None:
    while True:
        try:
            producer.flush(FLUSH_S)
        except KafkaTimeoutError:
            continue
        return


def _consume(job: Job, notes: ClientNotes) -> None:
    settings = {
        **_shared(job),
        "enable_auto_commit": False,
        "auto_offset_reset": "none",
        "fetch_max_wait_ms": job.fetch_wait_ms,
    }
    consumer = _made(lambda: KafkaConsumer(**settings), notes, CONSUMER)
    partitions = [TopicPartition(job.topic, each) for each in range(job.partitions)]
    consumer.assign(partitions)
    for each in partitions:
        consumer.seek(each, 0)

    def poll() -> Found:
        for records in consumer.poll(POLL_MS).values():
            for record in records:
                yield record.partition, record.offset, record.value

    def ends() -> Mapping[int, int]:
        return {each.partition: end for each, end in consumer.end_offsets(partitions).items()}

    read_all(job, notes, poll, ends)
    consumer.close()

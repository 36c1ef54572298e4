"""aiokafka."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiokafka import (  # type: ignore[import-untyped]
    AIOKafkaConsumer,
    AIOKafkaProducer,
    TopicPartition,
)
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from labs.clients_under_faults.drivers.reading import ReadProgress
from labs.clients_under_faults.job import CONSUMER, PRODUCER, Job
from labs.clients_under_faults.notes import BACKOFF_S, ClientNotes

POLL_MS = 100


def run(job: Job, notes: ClientNotes) -> None:
    asyncio.run(_run(job, notes))


async def _run(job: Job, notes: ClientNotes) -> None:
    await asyncio.gather(_produce(job, notes), _consume(job, notes))


def _shared(job: Job) -> dict[str, Any]:
    return {
        "bootstrap_servers": job.bootstrap,
        "request_timeout_ms": job.request_timeout_ms,
        "retry_backoff_ms": job.backoff_ms,
    }


async def _started(make: Callable[[], Any], notes: ClientNotes, process: str) -> Any:
    """It asks the brokers when it is started, and raises when none answers."""
    while True:
        made = make()
        try:
            await made.start()
        except KafkaError as problem:
            notes.trouble(process, problem)
            await made.stop()
            await asyncio.sleep(BACKOFF_S)
        else:
            return made


async def _produce(job: Job, notes: ClientNotes) -> None:
    settings = {
        **_shared(job),
        "enable_idempotence": job.idempotent,
        "acks": "all",
        "linger_ms": job.linger_ms,
        "max_batch_size": max(job.batch_bytes, job.value_bytes + 200),  # it takes no larger record
    }
    producer = await _started(lambda: AIOKafkaProducer(**settings), notes, PRODUCER)
    waiting = []
    for number, (name, partition) in enumerate(job.names()):
        await asyncio.sleep(notes.seconds_until(number))
        notes.sending(name, partition)
        try:
            sent = await producer.send(job.topic, job.payload(name), partition=partition)
        except KafkaError as problem:
            notes.not_sent(name, partition, problem)
            continue
        sent.add_done_callback(_delivered(notes, name, partition))
        waiting.append(sent)
    await producer.flush()
    await asyncio.gather(*waiting, return_exceptions=True)
    notes.produced()
    await producer.stop()


def _delivered(
    notes: ClientNotes, name: str, partition: int
) -> Callable[[asyncio.Future[Any]], None]:
    def tell(done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            notes.given_up(name, partition, "cancelled")
        elif problem := done.exception():
            notes.given_up(name, partition, problem)
        else:
            notes.acknowledged(name, partition, done.result().offset)

    return tell


async def _consume(job: Job, notes: ClientNotes) -> None:
    settings = {
        **_shared(job),
        "enable_auto_commit": False,
        "auto_offset_reset": "none",
        "fetch_max_wait_ms": job.fetch_wait_ms,
    }
    consumer = await _started(lambda: AIOKafkaConsumer(**settings), notes, CONSUMER)
    partitions = [TopicPartition(job.topic, each) for each in range(job.partitions)]
    consumer.assign(partitions)
    for each in partitions:
        consumer.seek(each, 0)
    progress = ReadProgress(job, notes)
    while not progress.is_whole:
        try:
            await _poll(consumer, partitions, progress, notes)
        except KafkaError as problem:
            notes.trouble(CONSUMER, problem)
            await asyncio.sleep(BACKOFF_S)
    notes.consumed()
    await consumer.stop()


async def _poll(
    consumer: Any, partitions: list[TopicPartition], progress: ReadProgress, notes: ClientNotes
) -> None:
    found = await consumer.getmany(*partitions, timeout_ms=POLL_MS)
    for records in found.values():
        progress.take((record.partition, record.offset, record.value) for record in records)
    if progress.ends is None and notes.may_end:
        ends = await consumer.end_offsets(partitions)
        progress.take_ends({each.partition: end for each, end in ends.items()})

"""The log as it is when all is over, read without any proxy between."""

from __future__ import annotations

from collections.abc import Iterator

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import decode_batches
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from labs.clients_under_faults.job import Job

READER = "reader"


class FinalReadFailed(RuntimeError):
    """The log cannot be read to its end."""


def final_read(broker: BrokerUnderTest, topic: Topic, job: Job) -> Iterator[ClientOperation]:
    """All records, and then that the end was reached. Raises NotReadable or BrokerMisbehaved."""
    for partition in range(job.partitions):
        offset, end = 0, broker.end_offset(topic, partition)
        while offset < end:
            answer = broker.fetch(topic, offset, partition=partition)
            if answer.error_code != ErrorCode.NONE:
                raise FinalReadFailed(f"{topic.name}-{partition}: {answer.error_code}")
            before = offset
            for at, value in _records(bytes(answer.records or b"")):
                if at >= offset:
                    yield ClientOperation(
                        READER,
                        OperationOutcome.OK,
                        ClientAction.FINAL_READ,
                        partition,
                        at,
                        job.name_of(value),
                    )
                    offset = at + 1
            if offset == before:
                raise FinalReadFailed(
                    f"{topic.name}-{partition}: nothing at {offset}, the end is {end}"
                )
    yield ClientOperation(READER, OperationOutcome.OK, ClientAction.FINAL_READ)


def _records(data: bytes) -> Iterator[tuple[int, bytes | None]]:
    for batch in decode_batches(data):
        for ordinal, record in enumerate(batch.records):
            delta = ordinal if record.offset_delta is None else record.offset_delta
            yield batch.base_offset + delta, record.value

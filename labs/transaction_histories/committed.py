"""The records that a read_committed consumer delivers, and the read of the log at the end."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.codec.records import CONTROL, RecordBatch, decode_batches
from harness.histories.history import ClientAction, OperationOutcome
from labs.crash_loops.reading import NotReadable
from labs.transaction_histories.notes import READER, TransactionNotes

READ_COMMITTED = 1
PAUSE_S = 0.02
GIVE_UP_S = 60.0
"""A log that is not readable to its end for so long has a transaction that hangs."""
LeaderOf = Callable[[int], BrokerUnderTest | None]
"""A client of the leader of a partition, or None as long as none is known."""


class DeliveredRecords(NamedTuple):
    """Offset and value of each record, and the position behind all that the answer has."""

    records: list[tuple[int, str]]
    position: int


def delivered(answer: FetchResponse.PartitionData, position: int) -> DeliveredRecords:
    """Return what a consumer at this position takes from an answer to a read_committed Fetch.

    Records between the first offset of an aborted transaction and its marker are left out.
    """
    starts: defaultdict[int, list[int]] = defaultdict(list)
    for each in answer.aborted_transactions or ():
        starts[each.producer_id].append(each.first_offset)
    for offsets in starts.values():
        offsets.sort(reverse=True)
    records: list[tuple[int, str]] = []
    for batch in decode_batches(record_bytes(answer)):
        is_aborted = _is_aborted(batch, starts[batch.producer_id])
        for record in batch.records:
            offset = batch.base_offset + (record.offset_delta or 0)
            if offset >= position and not batch.attributes & CONTROL and not is_aborted:
                records.append((offset, bytes(record.value or b"").decode("utf-8", "replace")))
        position = max(position, batch.base_offset + (batch.last_offset_delta or 0) + 1)
    return DeliveredRecords(records, position)


def _is_aborted(batch: RecordBatch, starts: list[int]) -> bool:
    """True between a start and a marker; a marker takes the start away. ``starts``: last first."""
    began = bool(starts) and starts[-1] <= batch.base_offset
    if began and batch.attributes & CONTROL:
        starts.pop()
    return began


def final_read(
    leader_of: LeaderOf,
    topic: Topic,
    partitions: int,
    notes: TransactionNotes,
    give_up_s: float = GIVE_UP_S,
) -> None:
    """Note all committed records of all partitions, when no transaction is open any more.

    Raises NotReadable: a partition does not answer, or its last stable offset does not reach its
    end.
    """
    for partition in range(partitions):
        position, deadline = 0, time.monotonic() + give_up_s
        while (answer := _next(leader_of, topic, partition, position, deadline)) is not None:
            found = delivered(answer, position)
            for offset, value in found.records:
                notes.add(READER, OperationOutcome.OK, ClientAction.FINAL_READ, partition,
                          offset, value)  # fmt: skip
            position = found.position
    notes.add(READER, OperationOutcome.OK, ClientAction.FINAL_READ)


def _next(
    leader_of: LeaderOf, topic: Topic, partition: int, position: int, deadline: float
) -> FetchResponse.PartitionData | None:
    """The next answer with records; None at the end of the log."""
    seen = "no leader"
    while time.monotonic() < deadline:
        client = leader_of(partition)
        try:
            if client is not None:
                answer = client.fetch(
                    topic, position, partition=partition, isolation_level=READ_COMMITTED
                )
                seen = f"{ErrorCode.describe(answer.error_code)}, last stable offset "
                seen += f"{answer.last_stable_offset}, high watermark {answer.high_watermark}"
                if answer.error_code == ErrorCode.NONE and record_bytes(answer):
                    return answer
                end = client.end_offset(topic, partition)
                if answer.error_code == ErrorCode.NONE and position == end:
                    return None
        except BrokerMisbehaved as failed:
            seen = f"{type(failed).__name__}: {failed}"
        time.sleep(PAUSE_S)
    raise NotReadable(f"{topic.name}-{partition} at {position}: {seen}")

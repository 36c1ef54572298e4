"""A consumer that continues through crashes, and the final read of the log."""

from __future__ import annotations

import threading
import time

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import RecordsError, decode_batches
from labs.crash_loops.clients import LoadClients
from labs.crash_loops.notes import STRANGE, CrashNotes, value_of

PAUSE_S = 0.02
GIVE_UP_S = 30.0


class NotReadable(RuntimeError):
    """The log cannot be read to its end."""


def records_of(data: bytes, offset: int) -> list[tuple[int, str]]:
    """Return (offset, value) of the records from ``offset`` on.

    Data without valid records gives one value that no producer sent.
    """
    try:
        batches = decode_batches(data)
    except RecordsError as damaged:
        return [(offset, f"{STRANGE}{damaged}")]
    found = [
        (batch.base_offset + (record.offset_delta or 0), value_of(record.value))
        for batch in batches
        for record in batch.records
    ]
    return [each for each in found if each[0] >= offset]


class Consumer:
    """Reads every partition from its beginning; behind a lost tail it goes back to the end."""

    def __init__(self, partitions: int, clients: LoadClients, notes: CrashNotes) -> None:
        self.stopped = threading.Event()
        self._positions = dict.fromkeys(range(partitions), 0)
        self._clients, self._notes = clients, notes

    def run(self) -> None:
        """Poll until the consumer is stopped."""
        while not self.stopped.is_set():
            for partition in self._positions:
                try:
                    self._poll(partition)
                except BrokerMisbehaved:
                    self._clients.forget(partition)
            time.sleep(PAUSE_S)

    def _poll(self, partition: int) -> None:
        client = self._clients.leader(partition)
        if client is None:
            return
        position = self._positions[partition]
        answer = client.fetch(self._clients.topic, position, partition=partition)
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            listed = client.list_offset(self._clients.topic, -1, partition=partition)
            if listed.error_code == ErrorCode.NONE:
                self._positions[partition] = min(position, listed.offset)
        elif answer.error_code != ErrorCode.NONE:
            self._clients.forget(partition)
        else:
            for offset, value in records_of(bytes(answer.records or b""), position):
                self._notes.polled(partition, offset, value)
                self._positions[partition] = offset + 1


def final_read(cluster: Cluster, topic: Topic, partitions: int, notes: CrashNotes) -> None:
    """Note all records, from each partition's first to its end. Raises NotReadable."""
    for partition in range(partitions):
        client = cluster.leader_client(topic, partition)
        offset = client.list_offset(topic, -2, partition=partition).offset
        end = client.end_offset(topic, partition)
        while offset < end:
            found = _next(client, topic, partition, offset)
            for at, value in found:
                notes.stored(partition, at, value)
            offset = found[-1][0] + 1


def _next(
    client: BrokerUnderTest, topic: Topic, partition: int, offset: int
) -> list[tuple[int, str]]:
    """Below the end there is something, at once or when the high watermark is known again."""
    deadline = time.monotonic() + GIVE_UP_S
    while True:
        answer = client.fetch(topic, offset, partition=partition)
        if found := records_of(bytes(answer.records or b""), offset):
            return found
        if time.monotonic() > deadline:
            code = ErrorCode.describe(answer.error_code)
            raise NotReadable(f"{topic.name}-{partition}: nothing at {offset}: {code}")
        time.sleep(PAUSE_S)

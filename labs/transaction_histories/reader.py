"""A consumer with read_committed, and the committed offset of a group's input."""

from __future__ import annotations

import time
from threading import Event
from typing import NamedTuple

from harness.client.coordinator import GROUP
from harness.client.errors import BrokerMisbehaved
from harness.client.only import only
from harness.client.requests import fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse, OffsetFetchRequest
from harness.histories.history import ClientAction, OperationOutcome
from labs.transaction_histories.committed import READ_COMMITTED, DeliveredRecords, delivered
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.wire import ClientWire, GivenUp

PAUSE_S = 0.03
BY_NAME = "4-12"  # of Fetch
STABLE = "1-7"  # of OffsetFetch, in its form for one group
CONSUMER = "consumer"


class CommittedEnds(NamedTuple):
    """The end of what is committed, and of what is replicated; equal: no transaction is open."""

    stable: int
    high_watermark: int


def take(wire: ClientWire, partition: int, position: int) -> tuple[DeliveredRecords, CommittedEnds]:
    """Return what is committed from the position on, and the ends.

    Raises GivenUp.
    """
    version = wire.version(FetchRequest, BY_NAME)
    wanted = fetch_topic(wire.topic, version, [fetch_partition(position, partition=partition)])
    request = fetch_request([wanted], isolation_level=READ_COMMITTED)
    answer, _ = wire.ask_until(
        partition, request, version, lambda one: _data(one).error_code, wire.time_is_up()
    )
    data = _data(answer)
    if data.error_code != ErrorCode.NONE:
        raise BrokerMisbehaved(f"Fetch at {position}: {ErrorCode.describe(data.error_code)}")
    ends = CommittedEnds(data.last_stable_offset, data.high_watermark)
    return delivered(data, position), ends


def committed_ends(wire: ClientWire, partition: int) -> CommittedEnds:
    """Return the ends of a partition. Raises GivenUp."""
    return take(wire, partition, 0)[1]


def _data(answer: FetchResponse) -> FetchResponse.PartitionData:
    return only(only(answer.responses, "topic").partitions, "partition")


def read_offset(
    wire: ClientWire, notes: TransactionNotes, process: str, group: str, partition: int
) -> int:
    """Return the committed offset, 0 without any, and note it. Raises GivenUp."""
    what = (ClientAction.READ_OFFSETS, partition)
    notes.add(process, OperationOutcome.INVOKE, *what)
    request = OffsetFetchRequest(
        group_id=group,
        topics=[
            OffsetFetchRequest.OffsetFetchRequestTopic(
                name=wire.topic.name, partition_indexes=[partition]
            )
        ],
        require_stable=True,
    )
    version = wire.version(OffsetFetchRequest, STABLE)
    answer, _ = wire.ask_until(
        (GROUP, group),
        request,
        version,
        lambda one: (
            only(only(one.topics, "topic").partitions, "partition").error_code or one.error_code
        ),
        wire.time_is_up(),
    )
    offset = max(0, only(only(answer.topics, "topic").partitions, "partition").committed_offset)
    notes.add(process, OperationOutcome.OK, *what, offset)
    return offset


class CommittedReader:
    """Reads every partition from its beginning until the others are done and all is read."""

    name = CONSUMER

    def __init__(
        self, wire: ClientWire, notes: TransactionNotes, partitions: int, give_up_s: float
    ) -> None:
        self._wire, self._notes, self._give_up_s = wire, notes, give_up_s
        self._positions = dict.fromkeys(range(partitions), 0)

    def run(self, stop: Event) -> None:
        """Poll until ``stop``, then to the end of each partition, when no transaction is open."""
        while not stop.is_set():
            self._poll_all()
            time.sleep(PAUSE_S)
        deadline = time.monotonic() + self._give_up_s
        while not self._poll_all():
            if time.monotonic() > deadline:
                self._notes.stuck(self.name, "a transaction hangs")
                return
            time.sleep(PAUSE_S)
        self._notes.add(self.name, OperationOutcome.OK, ClientAction.FINISH)

    def _poll_all(self) -> bool:
        """Poll every partition; true at the ends of all."""
        ended = [self._poll(partition) for partition in self._positions]
        return all(ended)

    def _poll(self, partition: int) -> bool:
        """True at the end of the partition, without an open transaction."""
        before = self._positions[partition]
        try:
            found, ends = take(self._wire, partition, before)
        except GivenUp:
            return False
        for offset, value in found.records:
            self._notes.add(self.name, OperationOutcome.OK, ClientAction.POLL, partition, offset,
                            value)  # fmt: skip
        self._positions[partition] = found.position
        if found.position >= ends.stable and found.position > before:
            self._notes.add(self.name, OperationOutcome.OK, ClientAction.END, partition,
                            ends.stable)  # fmt: skip
        return found.position >= ends.stable == ends.high_watermark

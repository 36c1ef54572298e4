"""A Produce request with acks=all that waits for its response."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import WireViolation
from harness.client.older_forms import records_for
from harness.client.only import only
from harness.client.requests import produce_request
from harness.codec.messages import ProduceResponse
from harness.virtual_broker.partition import WatchedPartition, batch_of

ALL = -1
SILENT_MS = 250
"""Length in ms of an expected silence.

A broker that responds too early does so before it answers the next fetch.
"""


class PendingProduce:
    """A request on a connection of its own; its record is in the leader's log when this is made."""

    def __init__(self, partition: WatchedPartition, *, timeout_ms: int = 60_000) -> None:
        """Appends one record. Raises ResponseTimeout: it does not come into the log."""
        broker = partition.broker
        end = partition.log_end()
        version = broker.version("Produce")
        records = records_for(version, batch_of(b"pending"))
        self._broker: BrokerUnderTest = broker
        self._connection: Connection = broker.connect("acks-all")
        request = produce_request(
            partition.topic, records, version, acks=ALL, timeout_ms=timeout_ms
        )
        self._connection.send(request, version)
        broker.eventually(
            lambda: partition.log_end() > end, "what was sent with acks=all is appended"
        )

    def expect_silence(self, when: str) -> None:
        """AssertionError: it is answered already."""
        try:
            self._connection.expect_silence(self._broker.scaled_ms(SILENT_MS))
        except WireViolation as early:
            raise AssertionError(f"acks=all is answered {when}") from early

    def answer(self) -> ProduceResponse.PartitionProduceResponse:
        """Wait for it. Raises ResponseTimeout."""
        answer = self._connection.receive()
        assert isinstance(answer, ProduceResponse)
        return only(only(answer.responses, "topic").partition_responses, "partition")

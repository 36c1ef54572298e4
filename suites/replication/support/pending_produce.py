"""A Produce request with acks=all that waits for its response."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import WireViolation
from harness.client.older_forms import records_for
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.messages import ProduceResponse
from harness.virtual_broker.partition import WatchedPartition, batch_of

ALL = -1
SILENT_MS = 250
"""Length in ms of an expected silence.

A broker that responds too early does so before it answers the next fetch.
"""


class PendingProduce:
    """A request on a connection of its own; its record is in the leader's log when this is made."""

    def __init__(self, *partitions: WatchedPartition, timeout_ms: int = 60_000) -> None:
        """Appends one record to each partition. Raises ResponseTimeout: one is not appended."""
        broker = partitions[0].broker
        ends = [each.log_end() for each in partitions]
        version = broker.version("Produce")
        records = records_for(version, batch_of(b"pending"))
        self._broker: BrokerUnderTest = broker
        self._connection: Connection = broker.connect("acks-all")
        request, *more = (
            produce_request(each.topic, records, version, acks=ALL, timeout_ms=timeout_ms)
            for each in partitions
        )
        for each in more:
            request.topic_data += each.topic_data
        self._partitions = partitions
        self._connection.send(request, version)
        broker.eventually(
            lambda: all(each.log_end() > end for each, end in zip(partitions, ends, strict=True)),
            "what was sent with acks=all is appended",
        )

    def expect_silence(self, when: str) -> None:
        """AssertionError: it is answered already."""
        try:
            self._connection.expect_silence(self._broker.scaled_ms(SILENT_MS))
        except WireViolation as early:
            raise AssertionError(f"acks=all is answered {when}") from early

    def answer(self) -> ProduceResponse.PartitionProduceResponse:
        """Wait for the result of the only partition. Raises ResponseTimeout."""
        return only(self.answers(), "partition")

    def answers(self) -> list[ProduceResponse.PartitionProduceResponse]:
        """Wait for the results of all partitions, in their order. Raises ResponseTimeout."""
        answer = self._connection.receive()
        assert isinstance(answer, ProduceResponse)
        return [
            only(only(topics, "topic").partition_responses, "partition")
            for topics in (_of(each.topic, answer) for each in self._partitions)
        ]


def _of(topic: Topic, answer: ProduceResponse) -> list[ProduceResponse.TopicProduceResponse]:
    """Return the results of a topic, which from version 13 on has an id and no name."""
    return [
        each
        for each in answer.responses
        if (each.topic_id == topic.id if not each.name else each.name == topic.name)
    ]

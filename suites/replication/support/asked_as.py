"""Requests of a client with a client id of its own, on a connection of its own.

Where several brokers serve one requirement, the client id assigns each request to its check.
"""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.older_forms import records_for
from harness.client.only import only
from harness.client.requests import (
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    produce_request,
)
from harness.codec.messages import FetchResponse, ProduceResponse
from suites.protocol.support.appended import batch_of

GRACE_MS = 3_000
"""Time in ms by which a response may come later than the broker's own timeout."""
BY_NAME = "0-12"
"""The versions of Fetch that name topics."""
READ_OF_FOLLOWERS = 11
DEBUGGER = -2
"""The replica id to which followers gave records before KIP-392."""


def produce_as(
    name: str, client: BrokerUnderTest, topic: Topic, *values: bytes, acks: int, timeout_ms: int
) -> ProduceResponse.PartitionProduceResponse | None:
    """The answer for partition 0; None: there is none."""
    version = client.version("Produce")
    request = produce_request(
        topic, records_for(version, batch_of(*values)), version, acks=acks, timeout_ms=timeout_ms
    )
    try:
        with client.connect(name, timeout_ms=timeout_ms + GRACE_MS) as connection:
            answer = connection.ask(request, version)
    except BrokerMisbehaved:
        return None
    return only(only(answer.responses, "topic").partition_responses, "partition")


def read_as(
    name: str, client: BrokerUnderTest, topic: Topic, offset: int = 0
) -> FetchResponse.PartitionData:
    """Return the broker's data of partition 0 below the high watermark, also from a follower."""
    version = client.version("Fetch", BY_NAME)
    request = fetch_request([fetch_topic(topic, version, [fetch_partition(offset)])])
    if version < READ_OF_FOLLOWERS:
        request.replica_id = DEBUGGER
    with client.connect(name) as connection:
        answer = connection.ask(request, version)
    return only(only(answer.responses, "topic").partitions, "partition")

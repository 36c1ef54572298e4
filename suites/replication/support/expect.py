"""Expectations about a watched partition that report the values seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.client.connection import Address
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, ProduceResponse
from harness.histories.replication import check_replication
from harness.virtual_broker.partition import FetchedRecords, WatchedPartition

NodeEndpoint = FetchResponse.NodeEndpoint | ProduceResponse.NodeEndpoint


def expect_error(actual: int, expected: ErrorCode, where: str) -> None:
    """The error code must be this one; ``where`` describes the response."""
    told = (
        f"{where}: error is {ErrorCode.describe(actual)}, expected {ErrorCode.describe(expected)}"
    )
    assert actual == expected, told


def expect_endpoint(found: Iterable[NodeEndpoint], node: int, address: Address) -> None:
    """The endpoints of a response must be that of this node, once, and no other."""
    places = [(each.node_id, each.host, each.port) for each in found]
    expected = [(node, *address)]
    assert places == expected, f"the endpoints are {places}, expected {expected}"


def expect_high_watermark(partition: WatchedPartition, expected: int, when: str) -> FetchedRecords:
    """A consumer receives this high watermark from Fetch and ListOffsets.

    Return the Fetch from offset 0 on.
    """
    read = partition.consume(0)
    expect_error(read.error, ErrorCode.NONE, f"{when}: a consumer's fetch")
    told = f"{when}: a consumer is told the high watermark {read.high_watermark}"
    assert read.high_watermark == expected, f"{told}, expected {expected}"
    listed = partition.latest()
    assert listed == expected, f"{when}: ListOffsets tells {listed}, expected {expected}"
    return read


def expect_log_end(partition: WatchedPartition, expected: int, when: str) -> None:
    """The leader reports this end of its log."""
    end = partition.log_end()
    assert end == expected, f"{when}: the leader's log ends at {end}, expected {expected}"


def expect_records(read: FetchedRecords, expected: Sequence[int], who: str) -> None:
    """No error, and the records with just these offsets."""
    expect_error(read.error, ErrorCode.NONE, who)
    found = list(read.offsets)
    assert found == list(expected), f"{who} is given the records {found}, expected {expected}"


def expect_sound(partition: WatchedPartition) -> None:
    """The observations of the whole test break none of the invariants of replication."""
    found = check_replication(partition.seen, partition.replicas)
    assert not found, "; ".join(map(str, found[:3]))

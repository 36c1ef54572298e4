"""Defects of DescribeCluster and DescribeTopicPartitions, area META."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeTopicPartitionsResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers

CONTROLLERS = 2
SOME_OPERATIONS = 8


@answers("META-028", r"pages of \d+: ", "DescribeTopicPartitions")
def next_page_leaves_one_out(_seen: SeenRequest, message: Message) -> None:
    """The cursor points behind the partition at which the next page has to begin."""
    assert isinstance(message, DescribeTopicPartitionsResponse)
    if message.next_cursor is not None:
        message.next_cursor.partition_index += 1


@answers("META-030", r"asked: False, authorized operations: 8", "DescribeCluster")
def operations_are_told_to_everybody(_seen: SeenRequest, message: Message) -> None:
    """DescribeCluster returns the authorized operations to clients that did not ask for them."""
    assert isinstance(message, DescribeClusterResponse)
    if message.error_code == ErrorCode.NONE:
        message.cluster_authorized_operations = SOME_OPERATIONS


@answers("META-031", r"endpoint type 2: error is NONE", "DescribeCluster", range(1, 99))
def controllers_are_described_by_a_broker(seen: SeenRequest, message: Message) -> None:
    """A broker answers a request for the controllers with an empty list."""
    assert isinstance(seen.message, DescribeClusterRequest)
    assert isinstance(message, DescribeClusterResponse)
    if seen.message.endpoint_type == CONTROLLERS:
        message.error_code = ErrorCode.NONE


DEFECTS = [
    next_page_leaves_one_out,
    operations_are_told_to_everybody,
    controllers_are_described_by_a_broker,
]

"""Defects of DescribeCluster, DescribeTopicPartitions and long answers of Metadata, area META."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeClusterResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataResponse,
)
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

CONTROLLERS, LARGEST_PAGE = 2, 2_000
NOT_ASKED, SOME_OPERATIONS, OF_A_TOPIC = -(2**31), 8, 3576


@answers("META-028", r"pages of \d+: ")
def next_page_leaves_one_out(answer: DescribeTopicPartitionsResponse) -> None:
    """The cursor points behind the partition at which the next page has to begin."""
    if answer.next_cursor is not None:
        answer.next_cursor.partition_index += 1


@answers("META-028", r"after a deleted topic: ")
def the_cursor_counts_in_the_next_topic(
    request: DescribeTopicPartitionsRequest, answer: DescribeTopicPartitionsResponse
) -> None:
    """After a cursor of a deleted topic, the next topic begins at the partition of the cursor."""
    cursor, there = request.cursor, [topic for topic in answer.topics if topic.partitions]
    if cursor is not None and there and there[0].name != cursor.topic_name:
        del there[0].partitions[: cursor.partition_index]


@answers("META-033", r"256 partitions, the topic has 300")
def a_byte_counts_the_partitions(answer: MetadataResponse) -> None:
    """Metadata returns no more than 256 partitions of a topic."""
    for topic in answer.topics:
        del topic.partitions[256:]


@takes("META-038", r"limit -?\d+: partitions \[0, 1, ")
def no_limit_is_the_largest(request: DescribeTopicPartitionsRequest) -> None:
    """DescribeTopicPartitions returns whole topics for a limit of 0 or below."""
    if request.response_partition_limit < 1:
        request.response_partition_limit = LARGEST_PAGE


@answers("META-039", r"is_internal of the listed topics: .*None")
def all_topics_are_those_of_users(
    request: DescribeTopicPartitionsRequest, answer: DescribeTopicPartitionsResponse
) -> None:
    """DescribeTopicPartitions without names leaves internal topics out."""
    if not request.topics:
        answer.topics = [topic for topic in answer.topics if not topic.is_internal]


DEFECTS = [
    no_limit_is_the_largest,
    all_topics_are_those_of_users,
    changed_field("META-040", "operations_come_together",
        r"topics True, cluster False: of the cluster 8",
        "Metadata returns the operations of the cluster to requests for those of topics.",
        MetadataResponse, "cluster_authorized_operations",
        NOT_ASKED, SOME_OPERATIONS, range(8, 11),
        requested={"include_topic_authorized_operations": True}),
    changed_field("META-040", "the_cluster_has_operations_of_a_topic",
        r"no operations of a cluster: 3576",
        "Metadata returns the operations of a topic as those of the cluster.",
        MetadataResponse, "cluster_authorized_operations",
        ANY, OF_A_TOPIC, range(8, 11),
        requested={"include_cluster_authorized_operations": True}),
    a_byte_counts_the_partitions,
    next_page_leaves_one_out,
    the_cursor_counts_in_the_next_topic,
    changed_field("META-034", "every_cursor_will_do", r"a cursor .*: errors are \[0\]",
        "DescribeTopicPartitions ignores a cursor that no page can have returned.",
        DescribeTopicPartitionsResponse, "topics.error_code",
        ErrorCode.INVALID_REQUEST, ErrorCode.NONE),
    changed_field("META-034", "an_illegal_name_is_an_unknown_one",
        r"illegal: error is UNKNOWN_TOPIC_OR_PARTITION",
        "DescribeTopicPartitions returns an illegal name as an unknown topic.",
        DescribeTopicPartitionsResponse, "topics.error_code",
        ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    replace(
        changed_field("META-030", "only_metadata_has_racks", r"the rack is \{None\}",
            "DescribeCluster returns brokers without their rack.",
            DescribeClusterResponse, "brokers.rack", ANY, None),
        private=True,
    ),
    changed_field("META-030", "operations_are_told_to_everybody",
        r"asked: False, authorized operations: 8",
        "DescribeCluster returns the authorized operations to clients that did not ask for them.",
        DescribeClusterResponse, "cluster_authorized_operations",
        NOT_ASKED, SOME_OPERATIONS, where={"error_code": ErrorCode.NONE}),
    changed_field("META-030", "a_broker_may_do_other_things_than_in_metadata",
        r"authorized operations 8, Metadata has",
        "DescribeCluster returns other authorized operations than Metadata.",
        DescribeClusterResponse, "cluster_authorized_operations",
        ANY, SOME_OPERATIONS, requested={"include_cluster_authorized_operations": True}),
    changed_field("META-031", "all_other_endpoint_types_are_alike",
        r"endpoint type 9: error is MISMATCHED_ENDPOINT_TYPE",
        "A broker takes every endpoint type but its own for that of controllers.",
        DescribeClusterResponse, "error_code",
        ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, ErrorCode.MISMATCHED_ENDPOINT_TYPE, range(1, 99)),
    changed_field("META-031", "controllers_are_described_by_a_broker",
        r"endpoint type 2: error is NONE",
        "A broker answers a request for the controllers with an empty list.",
        DescribeClusterResponse, "error_code",
        ANY, ErrorCode.NONE, range(1, 99), requested={"endpoint_type": CONTROLLERS}),
]  # fmt: skip

"""Defects of the areas TOPIC and META: names that a broker compares, sorts or keeps wrongly."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsResponse,
    DeleteTopicsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from labs.defects.edited_answer import answers

LONGEST = 249
OFFSETS_TOPIC = "__consumer_offsets"
PARTS = re.compile(r".*-\d+-[BC_ab]")  # a name of the test that compares letters


@answers("TOPIC-016", r"g_h\.i beside g\.h_i: error is NONE", range(99))
def only_one_of_both_characters_is_replaced(answer: CreateTopicsResponse) -> None:
    """CreateTopics finds no name that has a dot and an underscore in each other's place."""
    for topic in answer.topics:
        if topic.name.endswith("-g_h.i"):
            topic.error_code, topic.error_message = ErrorCode.NONE, None


@answers("TOPIC-043", r"creation of .*-Orders: error is TOPIC_ALREADY_EXISTS", range(99))
def names_are_compared_without_case(answer: CreateTopicsResponse) -> None:
    """The broker takes two names that differ in the case of a letter for the same."""
    for topic in answer.topics:
        if topic.name.endswith("-Orders"):
            topic.error_code = ErrorCode.TOPIC_ALREADY_EXISTS


@answers("TOPIC-044", r"deletion of .*x: error is KAFKA_STORAGE_ERROR", range(99))
def the_longest_name_cannot_be_deleted(answer: DeleteTopicsResponse) -> None:
    """The broker cannot rename the folder of a topic with a name of 249 characters."""
    for topic in answer.responses:
        if len(topic.name or "") == LONGEST:
            topic.error_code = ErrorCode.KAFKA_STORAGE_ERROR


@answers("META-028", r"pages of 1: ", range(99))
def names_are_sorted_without_case(
    request: DescribeTopicPartitionsRequest, answer: DescribeTopicPartitionsResponse
) -> None:
    """DescribeTopicPartitions returns names with small letters before those with capitals."""
    names = sorted(topic.name for topic in request.topics)
    in_order = sorted(names, key=str.lower)
    for topic in answer.topics:
        if PARTS.fullmatch(topic.name or "") and topic.name in names:
            topic.name = in_order[names.index(topic.name)]


@answers("META-004", r"has grown to two has \[0\]", range(1, 99))
def all_topics_are_as_they_began(request: MetadataRequest, answer: MetadataResponse) -> None:
    """Metadata of all topics shows of each topic of two partitions the first one alone."""
    for topic in answer.topics if request.topics is None else ():
        if len(topic.partitions) == 2:
            topic.partitions = topic.partitions[:1]


@answers("META-023", r"by the id of __consumer_offsets: ", range(12, 99))
def an_internal_topic_is_found_by_its_name_alone(
    request: MetadataRequest, answer: MetadataResponse
) -> None:
    """Metadata does not know the id of the topic of the group coordinator."""
    for topic in answer.topics if request.topics and request.topics[0].name is None else ():
        if topic.name == OFFSETS_TOPIC:
            topic.name, topic.error_code = None, ErrorCode.UNKNOWN_TOPIC_ID


DEFECTS = [
    only_one_of_both_characters_is_replaced,
    names_are_compared_without_case,
    replace(the_longest_name_cannot_be_deleted, private=True),
    names_are_sorted_without_case,
    all_topics_are_as_they_began,
    an_internal_topic_is_found_by_its_name_alone,
]

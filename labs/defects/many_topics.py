"""Defects that strike requests for several topics, or a topic that a request names twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.codec.messages import (
    FetchRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    ProduceResponse,
)
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

CONFIGURED_TOPICS = 5  # of the request for topics that differ in their configs
FILLED_TOPICS, LITTLE_BYTES = 2, 1 << 10  # of the fetch with room for a batch of each partition


@answers(
    "PROD-004", r"the topic \w+ of .*has_broker_time=True.*alone it is .*time=False", range(2, 99)
)
def a_time_is_that_of_all_topics_behind_it(answer: ProduceResponse) -> None:
    """The log_append_time of a topic is returned for the topics of the request behind it, too."""
    time_ms = -1
    for topic in answer.responses if len(answer.responses) == CONFIGURED_TOPICS else ():
        for one in topic.partition_responses:
            time_ms = one.log_append_time_ms = max(time_ms, one.log_append_time_ms)


def _last_of(topics: Sequence[Any], name: Callable[[Any], object]) -> list[Any]:
    """The last entry of each topic."""
    return list({name(topic): topic for topic in topics}.values())


@takes("PROD-004", r"of three entries the results are .*\('twice', 0, 'NONE \(0\)', 0\)\], not")
def a_topic_of_produce_has_its_last_entry(request: ProduceRequest) -> None:
    """Of two entries of a topic Produce reads the last one."""
    request.topic_data = _last_of(request.topic_data, lambda one: (one.name, one.topic_id))


@takes("LISTO-017", r"partitions of three entries: errors and ends are")
def a_topic_of_list_offsets_has_its_last_entry(request: ListOffsetsRequest) -> None:
    """Of two entries of a topic ListOffsets reads the last one."""
    request.topics = _last_of(request.topics, lambda one: one.name)


@takes("EPOCH-015", r"of three entries errors and ends are")
def a_topic_of_epochs_has_its_last_entry(request: OffsetForLeaderEpochRequest) -> None:
    """Of two entries of a topic OffsetForLeaderEpoch reads the last one."""
    request.topics = _last_of(request.topics, lambda one: one.topic)


@takes("FETCH-012", r"max_bytes for \d batches: records came of", range(4, 99))
def max_bytes_are_for_each_topic(request: FetchRequest) -> None:
    """max_bytes bounds the records of each topic, not those of all together."""
    if len(request.topics) == FILLED_TOPICS and request.max_bytes < LITTLE_BYTES:
        request.max_bytes *= FILLED_TOPICS


DEFECTS = [
    a_time_is_that_of_all_topics_behind_it,
    a_topic_of_produce_has_its_last_entry,
    a_topic_of_list_offsets_has_its_last_entry,
    a_topic_of_epochs_has_its_last_entry,
    max_bytes_are_for_each_topic,
]

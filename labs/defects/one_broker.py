"""Defects of areas ACKS, EPOCH, ERR and REPL, as far as one broker shows them."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DescribeGroupsResponse,
    FetchResponse,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    ProduceResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes, with_body
from labs.defects.one_client import is_from

LEADER = 1
LATER_EPOCH = 999_999  # it has no end yet
MANY_TOPICS = 2  # of the request about many partitions


class AProducerWithoutAcksIsAnswered(FrameRule):
    """The broker answers a producer that wants no answer."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, ProduceRequest) or not is_from(seen, "ACKS-001"):
            return seen.payload
        request.acks = LEADER
        return with_body(seen, request)


class AnErrorGoesUnheard(FrameRule):
    """The broker drops records with acks=0 that it cannot append, and keeps the connection open."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, ProduceRequest) and is_from(seen, "ACKS-002"):
            return None
        return seen.payload


class OnlyTheFirstErrorIsHeard(FrameRule):
    """The broker keeps a connection open if the first partition of a Produce with acks=0 is good,
    whatever the others are."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, ProduceRequest) or not is_from(seen, "ACKS-002"):
            return seen.payload
        indexes = [one.index for one in request.topic_data[0].partition_data]
        return None if indexes[0] == 0 and len(indexes) > 1 else seen.payload


class OnlyTheLastTopicIsHeard(FrameRule):
    """The broker keeps a connection open if the last topic of a Produce with acks=0 is good,
    whatever the others are."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, ProduceRequest) or not is_from(seen, "ACKS-002"):
            return seen.payload
        *others, last = request.topic_data
        return None if others and last.partition_data[0].index == 0 else seen.payload


class OnlyMissingPartitionsAreHeard(FrameRule):
    """The broker keeps a connection open if it refuses the batch of a Produce with acks=0."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_batch = b"refused" in seen.payload and is_from(seen, "ACKS-002")
        return None if is_batch else seen.payload


class AnErrorEndsTheRequest(FrameRule):
    """The broker reads nothing behind the first error of a Produce with acks=0."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, ProduceRequest) or not is_from(seen, "ACKS-018"):
            return seen.payload
        del request.topic_data[0].partition_data[2:]  # the second one fails
        return with_body(seen, request)


@takes("EPOCH-004", r"epoch \d+, partition \d: epoch and offset are")
def an_epoch_to_come_is_the_present_one(request: OffsetForLeaderEpochRequest) -> None:
    """The broker ends an unknown later epoch where the present one ends."""
    for topic in request.topics:
        for partition in topic.partitions:
            partition.leader_epoch = min(partition.leader_epoch, 0)


class AnEpochGoesWithItsFirstRecord(FrameRule):
    """The broker forgets a leader epoch when DeleteRecords deletes the epoch's first record."""

    def __init__(self) -> None:
        self._deleted: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, DeleteRecordsRequest):
            self._deleted |= {topic.name for topic in seen.message.topics}
        elif isinstance(request := seen.message, OffsetForLeaderEpochRequest):
            for topic in request.topics:
                for partition in topic.partitions if topic.topic in self._deleted else ():
                    partition.leader_epoch = LATER_EPOCH
            return with_body(seen, request)
        return seen.payload


@takes(
    "EPOCH-015",
    r"topic 0, partition 2: end offset 0, expected -1"
    r"|topic 1, partition 0: end offset -1, expected 9",
)
def the_first_epoch_is_that_of_all(request: OffsetForLeaderEpochRequest) -> None:
    """The broker looks for the epoch of the first partition in all partitions of a topic."""
    if len(request.topics) == MANY_TOPICS:
        for topic in request.topics:
            for partition in topic.partitions:
                partition.leader_epoch = topic.partitions[0].leader_epoch


@answers("REPL-021", r"1 records, high watermark 0")
def the_high_watermark_is_one_append_behind(answer: FetchResponse) -> None:
    """The high watermark is one below the end of the log."""
    for topic in answer.responses:
        for partition in topic.partitions:
            partition.high_watermark = max(0, partition.high_watermark - 1)


@answers("ERR-002", r"DeleteRecords v\d, asked .*: codes \{")
def one_bad_partition_fails_all(answer: DeleteRecordsResponse) -> None:
    """DeleteRecords refuses all partitions if one is unknown."""
    found = [partition for topic in answer.topics for partition in topic.partitions]
    if any(one.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for one in found):
        for one in found:
            one.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("ERR-002", r"ListOffsets v\d+, asked (before|behind) a known topic: codes \{")
def one_bad_topic_fails_all(answer: ListOffsetsResponse) -> None:
    """ListOffsets refuses all topics if one is unknown."""
    found = [partition for topic in answer.topics for partition in topic.partitions]
    codes = {one.error_code for one in found}
    if len(answer.topics) > 1 and ErrorCode.UNKNOWN_TOPIC_OR_PARTITION in codes:
        for one in found:
            one.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("ERR-002", r"errors and states are")
def one_unknown_group_hides_all(answer: DescribeGroupsResponse) -> None:
    """DescribeGroups describes all groups as unknown if one is."""
    unknown = [group.error_code for group in answer.groups if group.group_state == "Dead"]
    for group in answer.groups if unknown else ():
        group.error_code, group.group_state = unknown[0], "Dead"


DEFECTS = [
    one_bad_topic_fails_all,
    one_unknown_group_hides_all,
    rule("EPOCH-002", r"deleted below 2, 0 more: epoch \d+ ends at -1, not 9",
         AnEpochGoesWithItsFirstRecord),
    rule("ACKS-001", r"answer \d has correlation id 50", AProducerWithoutAcksIsAnswered),
    rule("ACKS-002", r"neither answered nor closed", AnErrorGoesUnheard),
    rule("ACKS-002", r"neither answered nor closed", OnlyTheFirstErrorIsHeard),
    rule("ACKS-002", r"neither answered nor closed", OnlyTheLastTopicIsHeard),
    rule("ACKS-002", r"neither answered nor closed", OnlyMissingPartitionsAreHeard),
    rule("ACKS-018", r"(no such partition|damaged batch): the logs end at \[1, 0, 0\]",
         AnErrorEndsTheRequest),
    the_first_epoch_is_that_of_all,
    changed_field("EPOCH-005", "the_epoch_of_a_client_is_not_checked",
        r"error is NONE \(0\), expected (UNKNOWN|FENCED)_LEADER_EPOCH",
        "OffsetForLeaderEpoch ignores the current leader epoch of the request.",
        OffsetForLeaderEpochRequest, "topics.partitions.current_leader_epoch", ANY, -1),
    an_epoch_to_come_is_the_present_one,
    the_high_watermark_is_one_append_behind,
    changed_field("ERR-001", "impossible_acks_are_an_invalid_request",
        r"acks 7: error codes are \[42\], expected 21 alone",
        "Produce answers impossible acks with INVALID_REQUEST instead of INVALID_REQUIRED_ACKS.",
        ProduceResponse, "responses.partition_responses.error_code",
        ErrorCode.INVALID_REQUIRED_ACKS, ErrorCode.INVALID_REQUEST),
    one_bad_partition_fails_all,
    changed_field("ERR-003", "an_unknown_topic_is_not_foreseen",
        r"ListOffsets v\d+ gets UNKNOWN_SERVER_ERROR",
        "ListOffsets of an unknown topic returns UNKNOWN_SERVER_ERROR.",
        ListOffsetsResponse, "topics.partitions.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_SERVER_ERROR,
        where={"topics.partitions.partition_index": 0}),
]  # fmt: skip

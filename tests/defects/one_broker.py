"""Defects of areas ACKS, EPOCH, ERR and REPL, as far as one broker shows them."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsResponse,
    FetchResponse,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from tests.defects.defect import answers, rule
from tests.defects.edited_request import takes, with_body
from tests.defects.one_client import is_from

LEADER = 1


class AProducerWithoutAcksIsAnswered(FrameRule):
    """A producer that wants no answer gets one."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, ProduceRequest) or not is_from(seen, "ACKS-001"):
            return seen.payload
        request.acks = LEADER
        return with_body(seen, request)


class AnErrorGoesUnheard(FrameRule):
    """With acks=0, what cannot be appended is dropped, and the connection goes on."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, ProduceRequest) and is_from(seen, "ACKS-002"):
            return None
        return seen.payload


@takes("EPOCH-004", r"epoch 999, partition 0: epoch and offset are", OffsetForLeaderEpochRequest)
def an_epoch_to_come_is_the_present_one(request: OffsetForLeaderEpochRequest) -> None:
    """An epoch that nobody knows yet ends where the present one does."""
    for topic in request.topics:
        for partition in topic.partitions:
            if partition.leader_epoch > 0:
                partition.leader_epoch = 0


@answers("REPL-021", r"1 records, high watermark 0", "Fetch")
def the_high_watermark_is_one_append_behind(_: SeenRequest, message: Message) -> None:
    """The last record is not below the high watermark yet."""
    assert isinstance(message, FetchResponse)
    for topic in message.responses:
        for partition in topic.partitions:
            partition.high_watermark = max(0, partition.high_watermark - 1)


@answers("ERR-001", r"acks 7: error codes are \[42\], expected 21 alone", "Produce")
def impossible_acks_are_an_invalid_request(_: SeenRequest, message: Message) -> None:
    """INVALID_REQUEST where the table has an error of its own."""
    assert isinstance(message, ProduceResponse)
    for topic in message.responses:
        for partition in topic.partition_responses:
            if partition.error_code == ErrorCode.INVALID_REQUIRED_ACKS:
                partition.error_code = ErrorCode.INVALID_REQUEST


@answers("ERR-002", r"DeleteRecords v\d, asked .*: codes \{", "DeleteRecords")
def one_bad_partition_fails_all(_: SeenRequest, message: Message) -> None:
    """When one partition is not there, none is."""
    assert isinstance(message, DeleteRecordsResponse)
    found = [partition for topic in message.topics for partition in topic.partitions]
    if any(one.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for one in found):
        for one in found:
            one.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("ERR-003", r"ListOffsets v\d+ gets UNKNOWN_SERVER_ERROR", "ListOffsets")
def an_unknown_topic_is_not_foreseen(_: SeenRequest, message: Message) -> None:
    """Looking up offsets of a topic that is not there fails somewhere inside."""
    assert isinstance(message, ListOffsetsResponse)
    for topic in message.topics:
        for partition in topic.partitions:
            if partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and (
                partition.partition_index == 0
            ):
                partition.error_code = ErrorCode.UNKNOWN_SERVER_ERROR


DEFECTS = [
    rule("ACKS-001", r"answer \d has correlation id 50", AProducerWithoutAcksIsAnswered),
    rule("ACKS-002", r"neither answered nor closed", AnErrorGoesUnheard),
    an_epoch_to_come_is_the_present_one,
    the_high_watermark_is_one_append_behind,
    impossible_acks_are_an_invalid_request,
    one_bad_partition_fails_all,
    an_unknown_topic_is_not_foreseen,
]

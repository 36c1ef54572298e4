"""Defects of area OFFS: committed and fetched offsets."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import answers, rule
from labs.defects.edited_request import with_body

FAR_BEHIND_THE_END = 1_000_000_000
NO_SUCH_PARTITION = 99
FIRST_FETCH_BY_ID = 10
Result = OffsetCommitResponse.OffsetCommitResponsePartition
Group = OffsetFetchResponse.OffsetFetchResponseGroup
Read = (
    OffsetFetchResponse.OffsetFetchResponsePartition
    | OffsetFetchResponse.OffsetFetchResponsePartitions
)


def _results(message: Message) -> list[Result]:
    assert isinstance(message, OffsetCommitResponse)
    return [partition for topic in message.topics for partition in topic.partitions]


def _groups(message: Message) -> list[Group]:
    assert isinstance(message, OffsetFetchResponse)
    return message.groups


def _read(message: Message) -> Iterator[Read]:
    assert isinstance(message, OffsetFetchResponse)
    for topic in message.topics:
        yield from topic.partitions
    for group in message.groups:
        for named in group.topics:
            yield from named.partitions


class TheHighestOffsetWins(FrameRule):
    """The broker keeps the highest offset that was committed for a partition."""

    def __init__(self) -> None:
        self.highest: dict[tuple[str, str | UUID, int], int] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, OffsetCommitRequest):
            return seen.payload
        for topic in request.topics:
            for part in topic.partitions:
                key = (request.group_id, topic.name or topic.topic_id, part.partition_index)
                highest = max(part.committed_offset, self.highest.get(key, -1))
                self.highest[key] = part.committed_offset = highest
        return with_body(seen, request)


@answers("OFFS-002", r"partition 99: error is UNKNOWN_TOPIC_OR_PARTITION", "OffsetFetch")
def unknown_partitions_are_errors(_: SeenRequest, message: Message) -> None:
    """OffsetFetch returns an error for an unknown partition."""
    for read in _read(message):
        if read.partition_index >= NO_SUCH_PARTITION:
            read.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("OFFS-003", r"not in the answer, which has", "OffsetFetch")
def all_is_one_topic(seen: SeenRequest, message: Message) -> None:
    """OffsetFetch returns only the first of all topics of a group."""
    assert isinstance(seen.message, OffsetFetchRequest)
    assert isinstance(message, OffsetFetchResponse)
    if seen.message.topics is None:
        del message.topics[1:]
    for asked, group in zip(seen.message.groups, message.groups, strict=True):
        if asked.topics is None:
            del group.topics[1:]


@answers("OFFS-004", r"unknown(, partition \d+)?: error is GROUP_ID_NOT_FOUND", "OffsetFetch")
def an_unknown_group_among_others_is_an_error(_: SeenRequest, message: Message) -> None:
    """OffsetFetch for several groups returns an error for those without offsets."""
    groups = _groups(message)
    for group in groups:
        offsets = {read.committed_offset for topic in group.topics for read in topic.partitions}
        if len(groups) > 1 and offsets == {-1}:
            group.topics, group.error_code = [], ErrorCode.GROUP_ID_NOT_FOUND


@answers("OFFS-008", r"error is ILLEGAL_GENERATION .*, expected GROUP_ID_NOT_FOUND", "OffsetCommit")
def an_unknown_group_has_a_wrong_generation(_: SeenRequest, message: Message) -> None:
    """OffsetCommit v9 has the error of the versions before."""
    for result in _results(message):
        if result.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
            result.error_code = ErrorCode.ILLEGAL_GENERATION


def _spread(message: Message, error: ErrorCode) -> None:
    """Copy this error from one partition to all."""
    results = _results(message)
    if error in [result.error_code for result in results]:
        for result in results:
            result.error_code = error


@answers("OFFS-011", r"error is OFFSET_METADATA_TOO_LARGE \(12\), expected NONE", "OffsetCommit")
def too_long_metadata_refuses_all(_: SeenRequest, message: Message) -> None:
    """The broker refuses a whole commit if one partition's metadata is too long."""
    _spread(message, ErrorCode.OFFSET_METADATA_TOO_LARGE)


@answers("OFFS-012", r"error is UNKNOWN_TOPIC_OR_PARTITION \(3\), expected NONE", "OffsetCommit")
def an_unknown_partition_refuses_all(_: SeenRequest, message: Message) -> None:
    """The broker refuses a whole commit if one partition is unknown."""
    _spread(message, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@answers(
    "OFFS-023",
    r"(unknown|the old) id: error is NONE \(0\), expected UNKNOWN_TOPIC_ID",
    "OffsetFetch",
    range(FIRST_FETCH_BY_ID, 99),
)
def an_unknown_id_is_not_committed(_: SeenRequest, message: Message) -> None:
    """OffsetFetch reads an unknown topic id as a topic without commits."""
    for read in _read(message):
        if read.error_code == ErrorCode.UNKNOWN_TOPIC_ID:
            read.error_code, read.committed_offset, read.metadata = ErrorCode.NONE, -1, ""


@answers("OFFS-025", r"error is OFFSET_OUT_OF_RANGE \(1\), expected NONE", "OffsetCommit")
def only_what_is_in_the_log_is_committed(seen: SeenRequest, message: Message) -> None:
    """The broker refuses to commit an offset behind the log end."""
    assert isinstance(seen.message, OffsetCommitRequest)
    asked = [part for topic in seen.message.topics for part in topic.partitions]
    for part, result in zip(asked, _results(message), strict=True):
        if part.committed_offset >= FAR_BEHIND_THE_END:
            result.error_code = ErrorCode.OFFSET_OUT_OF_RANGE


DEFECTS = [
    rule("OFFS-001", r"is \(5, 'three'\), expected \(3, 'three'\)", TheHighestOffsetWins),
    unknown_partitions_are_errors,
    all_is_one_topic,
    an_unknown_group_among_others_is_an_error,
    an_unknown_group_has_a_wrong_generation,
    too_long_metadata_refuses_all,
    an_unknown_partition_refuses_all,
    an_unknown_id_is_not_committed,
    only_what_is_in_the_log_is_committed,
]

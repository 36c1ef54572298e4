"""Defects of area OFFS: committed and fetched offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
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
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes, with_body

FAR_BEHIND_THE_END = 1_000_000_000
NO_SUCH_PARTITION = 99
FIRST_FETCH_BY_ID = 10
GROUP_ID_NOT_FOUND_SINCE = 9
LOST_MEMBER = "of-a-lost-group"  # the member of the test of OFFS-008
Result = OffsetCommitResponse.OffsetCommitResponsePartition
Read = (
    OffsetFetchResponse.OffsetFetchResponsePartition
    | OffsetFetchResponse.OffsetFetchResponsePartitions
)


def _results(message: Message) -> list[Result]:
    assert isinstance(message, OffsetCommitResponse)
    return [partition for topic in message.topics for partition in topic.partitions]


def _read(message: OffsetFetchResponse) -> Iterator[Read]:
    for topic in message.topics:
        yield from topic.partitions
    for group in message.groups:
        for named in group.topics:
            yield from named.partitions


class TheFirstEntryCounts(FrameRule):
    """OffsetCommit stores the first of several entries for a partition."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, OffsetCommitRequest):
            return seen.payload
        known: set[tuple[str, UUID, int]] = set()
        for topic in request.topics:
            first = []
            for part in topic.partitions:
                place = (topic.name, topic.topic_id, part.partition_index)
                if place not in known:
                    first.append(part)
                    known.add(place)
            topic.partitions = first
        request.topics = [topic for topic in request.topics if topic.partitions]
        return with_body(seen, request)


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


class EditsReads(FrameRule):
    """Pass every response to an OffsetFetch through ``_keep``, which may change it."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, OffsetFetchRequest):
            return [edited(seen, payload, self._keep)]
        return [payload]

    def _keep(self, seen: SeenRequest, message: OffsetFetchResponse) -> None:
        raise NotImplementedError


class TheFormerEpochStays(EditsReads):
    """A commit without a leader epoch keeps the epoch of the commit before."""

    def __init__(self) -> None:
        self.epochs: dict[tuple[str, int], int] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, OffsetCommitRequest):
            for part in (part for topic in request.topics for part in topic.partitions):
                if part.committed_leader_epoch >= 0:
                    key = (request.group_id, part.partition_index)
                    self.epochs[key] = part.committed_leader_epoch
        return seen.payload

    def _keep(self, _: SeenRequest, message: OffsetFetchResponse) -> None:
        for group in message.groups:
            for part in (part for topic in group.topics for part in topic.partitions):
                former = self.epochs.get((group.group_id, part.partition_index), -1)
                if part.committed_offset >= 0 > part.committed_leader_epoch:
                    part.committed_leader_epoch = former


@answers("OFFS-002", r"partition 99: error is UNKNOWN_TOPIC_OR_PARTITION")
def unknown_partitions_are_errors(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns an error for an unknown partition."""
    for read in _read(answer):
        if read.partition_index >= NO_SUCH_PARTITION:
            read.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("OFFS-003", r"not in the answer, which has")
def all_is_one_topic(request: OffsetFetchRequest, answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns only the first of all topics of a group."""
    if request.topics is None:
        del answer.topics[1:]
    for asked, group in zip(request.groups, answer.groups, strict=True):
        if asked.topics is None:
            del group.topics[1:]


@answers("OFFS-004", r"unknown(, partition \d+)?: error is GROUP_ID_NOT_FOUND")
def an_unknown_group_among_others_is_an_error(answer: OffsetFetchResponse) -> None:
    """OffsetFetch for several groups returns an error for those without offsets."""
    groups = answer.groups
    for group in groups:
        offsets = {read.committed_offset for topic in group.topics for read in topic.partitions}
        if len(groups) > 1 and offsets == {-1}:
            group.topics, group.error_code = [], ErrorCode.GROUP_ID_NOT_FOUND


def _spread(message: Message, error: ErrorCode) -> None:
    """Copy this error from one partition to all."""
    results = _results(message)
    if error in [result.error_code for result in results]:
        for result in results:
            result.error_code = error


@answers("OFFS-011", r"error is OFFSET_METADATA_TOO_LARGE \(12\), expected NONE")
def too_long_metadata_refuses_all(answer: OffsetCommitResponse) -> None:
    """The broker refuses a whole commit if one partition's metadata is too long."""
    _spread(answer, ErrorCode.OFFSET_METADATA_TOO_LARGE)


@answers("OFFS-012", r"error is UNKNOWN_TOPIC_OR_PARTITION \(3\), expected NONE")
def an_unknown_partition_refuses_all(answer: OffsetCommitResponse) -> None:
    """The broker refuses a whole commit if one partition is unknown."""
    _spread(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@answers(
    "OFFS-023",
    r"(unknown|the old) id: error is NONE \(0\), expected UNKNOWN_TOPIC_ID",
    range(FIRST_FETCH_BY_ID, 99),
)
def an_unknown_id_is_not_committed(answer: OffsetFetchResponse) -> None:
    """OffsetFetch reads an unknown topic id as a topic without commits."""
    for read in _read(answer):
        if read.error_code == ErrorCode.UNKNOWN_TOPIC_ID:
            read.error_code, read.committed_offset, read.metadata = ErrorCode.NONE, -1, ""


@answers("OFFS-025", r"error is OFFSET_OUT_OF_RANGE \(1\), expected NONE")
def only_what_is_in_the_log_is_committed(
    request: OffsetCommitRequest, answer: OffsetCommitResponse
) -> None:
    """The broker refuses to commit an offset behind the log end."""
    asked = [part for topic in request.topics for part in topic.partitions]
    for part, result in zip(asked, _results(answer), strict=True):
        if part.committed_offset >= FAR_BEHIND_THE_END:
            result.error_code = ErrorCode.OFFSET_OUT_OF_RANGE


@takes("OFFS-034", r"after null metadata.* is \(6, 'None'\), expected")
def null_metadata_are_a_word(message: OffsetCommitRequest) -> None:
    """The broker stores the word "None" for null metadata."""
    for part in (part for topic in message.topics for part in topic.partitions):
        if part.committed_metadata is None:
            part.committed_metadata = "None"


class RefusedCommitsAreStored(FrameRule):
    """The broker refuses the commit of a member of an unknown group, and stores its offsets."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, OffsetCommitRequest) or request.member_id != LOST_MEMBER:
            return seen.payload
        simple = copy(request)
        simple.member_id, simple.generation_id_or_member_epoch = "", -1
        return with_body(seen, simple)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, OffsetCommitRequest) and request.member_id == LOST_MEMBER:
            return [edited(seen, payload, self._refuse)]
        return [payload]

    def _refuse(self, seen: SeenRequest, message: Message) -> None:
        is_new = seen.version >= GROUP_ID_NOT_FOUND_SINCE
        for result in _results(message):
            result.error_code = (
                ErrorCode.GROUP_ID_NOT_FOUND if is_new else ErrorCode.ILLEGAL_GENERATION
            )


DEFECTS = [
    null_metadata_are_a_word,
    rule("OFFS-008", r"after a refused commit of generation \d.*offset is 1",
         RefusedCommitsAreStored),
    changed_field("OFFS-023", "offsets_of_unknown_ids_seem_stored",
        r"partition 0 of (unknown|old): error is NONE",
        "OffsetCommit reports an offset of an unknown topic id as stored.",
        OffsetCommitResponse, "topics.partitions.error_code",
        ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.NONE, range(FIRST_FETCH_BY_ID, 99)),
    rule("OFFS-019", r"after the later commit are \[7, 7\]", TheFormerEpochStays),
    rule("OFFS-029", r"twice in one entry, .*is \(9, 'first\'\)", TheFirstEntryCounts),
    rule("OFFS-001", r"is \(5, '(three)?'\), expected \([34], ", TheHighestOffsetWins),
    unknown_partitions_are_errors,
    all_is_one_topic,
    an_unknown_group_among_others_is_an_error,
    changed_field("OFFS-008", "an_unknown_group_has_a_wrong_generation",
        r"error is ILLEGAL_GENERATION .*, expected GROUP_ID_NOT_FOUND",
        "OffsetCommit v9 has the error of the versions before.",
        OffsetCommitResponse, "topics.partitions.error_code",
        ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.ILLEGAL_GENERATION),
    too_long_metadata_refuses_all,
    an_unknown_partition_refuses_all,
    an_unknown_id_is_not_committed,
    only_what_is_in_the_log_is_committed,
]  # fmt: skip

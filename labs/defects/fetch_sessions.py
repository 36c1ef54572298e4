"""Defects of area FETCH, in sessions with partitions that change, fail or go away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

TOLD_ONCE = (ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
FINAL_EPOCH = -1
OF_ANOTHER_TOPIC = (ErrorCode.INCONSISTENT_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_ID)


def _is_incremental(request: FetchRequest) -> bool:
    return request.session_epoch > 0


@answers("FETCH-029", r"answer 0 in error names \[\]")
def an_error_is_told_once(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker returns a partition in error in the full answer and in no incremental one."""
    if _is_incremental(request):
        for topic in answer.responses:
            topic.partitions = [p for p in topic.partitions if p.error_code not in TOLD_ONCE]


@answers("FETCH-029", r"answer 0 in error names \['OFFSET_OUT_OF_RANGE \(1\)', 'NONE \(0\)'\]")
def an_error_brings_its_neighbours(request: FetchRequest, answer: FetchResponse) -> None:
    """An incremental answer with a partition in error has the idle ones of the topic as well."""
    if _is_incremental(request):
        for topic in answer.responses:
            if [p.error_code for p in topic.partitions] == [ErrorCode.OFFSET_OUT_OF_RANGE]:
                topic.partitions.append(FetchResponse.PartitionData(partition_index=1))


@answers("FETCH-032", r"partition 0 moved to 2: offsets \{0: \[2\]\} came")
def an_update_replaces_the_session(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker answers a request that changes a partition for that partition alone."""
    if not _is_incremental(request) or not request.topics:
        return
    named = {p.partition for topic in request.topics for p in topic.partitions}
    for topic in answer.responses:
        topic.partitions = [p for p in topic.partitions if p.partition_index in named]


@takes(
    "FETCH-034", r"answered after \d+ ms, max_wait_ms is|bytes came where nothing was to be sent"
)
def who_asks_for_nothing_does_not_wait(request: FetchRequest) -> None:
    """The broker answers an incremental Fetch that names no partition at once."""
    if _is_incremental(request) and not request.topics:
        request.max_wait_ms = 0


@answers("FETCH-036", r"the topic is another one: error is NONE")
def a_session_follows_the_name(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker continues a session with the topic that has the name now."""
    if _is_incremental(request):
        for topic in answer.responses:
            for partition in topic.partitions:
                if partition.error_code in OF_ANOTHER_TOPIC:
                    partition.error_code = ErrorCode.NONE


@answers("FETCH-057", r"a topic of its name is there: error is UNKNOWN_TOPIC", range(7, 13))
def a_session_keeps_to_the_first_topic(request: FetchRequest, answer: FetchResponse) -> None:
    """A session by names does not find the topic that was created again under a name."""
    if _is_incremental(request):
        for topic in answer.responses:
            for partition in topic.partitions:
                if b"made again" in bytes(partition.records or b""):
                    partition.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    partition.records = b""


@takes("FETCH-047", r"the session that was named: error is NONE")
def a_new_session_leaves_the_old_one_open(request: FetchRequest) -> None:
    """The broker opens a session for epoch 0 and leaves the session that it names open."""
    if request.session_epoch == 0:
        request.session_id = 0


class ACloseEndsAllSessions(FrameRule):
    """A Fetch that closes its session closes those of all other consumers, too."""

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.closed: set[int] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, FetchRequest):
            return [payload]
        if request.session_epoch == FINAL_EPOCH and request.session_id:
            self.closed |= self.open
            self.open = set()
        return [edited(seen, payload, self.edit)]

    def edit(self, seen: SeenRequest, answer: FetchResponse) -> None:
        assert isinstance(seen.message, FetchRequest)
        if seen.message.session_epoch == 0 and answer.session_id:
            self.open.add(answer.session_id)
        elif seen.message.session_epoch > 0 and seen.message.session_id in self.closed:
            answer.error_code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
            answer.responses = []


DEFECTS = [
    a_new_session_leaves_the_old_one_open,
    an_error_is_told_once,
    an_error_brings_its_neighbours,
    rule("FETCH-033", r"the session beside it: error is FETCH_SESSION_ID_NOT_FOUND",
         ACloseEndsAllSessions),
    an_update_replaces_the_session,
    who_asks_for_nothing_does_not_wait,
    changed_field("FETCH-035", "names_and_ids_may_be_mixed",
        r"error is NONE \(0\), expected FETCH_SESSION_TOPIC_ID_ERROR",
        "The broker accepts topic ids in a session that was opened with names, or the reverse.",
        FetchResponse, "error_code", ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, ErrorCode.NONE),
    a_session_follows_the_name,
    a_session_keeps_to_the_first_topic,
    replace(
        changed_field("FETCH-037", "a_session_is_promised_where_none_fits",
            r"full of young sessions, a consumer gets session 77",
            "The broker returns a session id to every client that wants one, even if it keeps "
            "none.",
            FetchResponse, "session_id", 0, 77, requested={"session_epoch": 0}),
        private=True,
    ),
]  # fmt: skip

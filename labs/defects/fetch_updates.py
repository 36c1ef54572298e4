"""Defects of area FETCH: changes and refusals of a session, waits that something else ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.one_client import of_client

LONG_WAIT_MS = 10_000  # the tests in which a wait must end for another reason ask for more
NO_EPOCH = -1
ROOMY_BYTES = 1 << 20
UNREACHED_BYTES, PATIENCE_MS = 1 << 19, 3_000  # of the fetch from a closed segment
ONE_VERSION = range(4, 5)  # where a defect makes the tests wait, one version is enough
AFTER_DELETION = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.INCONSISTENT_TOPIC_ID,
)


@answers("FETCH-048", r"error is NONE \(0\) after the deletion")
def a_deleted_partition_is_idle(request: FetchRequest, answer: FetchResponse) -> None:
    """A fetch that waits returns no error for a partition that was deleted meanwhile."""
    if request.max_wait_ms < LONG_WAIT_MS:
        return
    for topic in answer.responses:
        for data in topic.partitions:
            if data.error_code in AFTER_DELETION:
                data.error_code = ErrorCode.NONE


@answers(
    "FETCH-060",
    r"epoch 1, a new connection: error is FETCH_SESSION_ID_NOT_FOUND",
    range(7, 99),
    asked=of_client("FETCH-060"),
)
def a_session_ends_with_its_connection(answer: FetchResponse) -> None:
    """The broker closes a session when the client closes the connection that opened it."""
    answer.error_code, answer.responses = int(ErrorCode.FETCH_SESSION_ID_NOT_FOUND), []


class ARefusalClosesTheSession(FrameRule):
    """A request with a wrong epoch closes the session if it forgets partitions."""

    def __init__(self) -> None:
        self.closed: set[int] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, FetchRequest) or request.session_epoch <= 0:
            return [payload]
        return [edited(seen, payload, self.edit)]

    def edit(self, seen: SeenRequest, message: Message) -> None:
        request = seen.message
        assert isinstance(request, FetchRequest)
        assert isinstance(message, FetchResponse)
        if request.session_id in self.closed:
            message.error_code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
            message.responses = []
        elif (
            request.forgotten_topics_data
            and message.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        ):
            self.closed.add(request.session_id)


@takes("FETCH-050", r"epoch \d+, the leader's is \d+: errors are .*'sent': \['NONE")
def a_session_keeps_no_leader_epoch(request: FetchRequest) -> None:
    """The broker does not read the current leader epoch in incremental requests."""
    if request.session_epoch > 0:
        for topic in request.topics:
            for wanted in topic.partitions:
                wanted.current_leader_epoch = NO_EPOCH


@takes("FETCH-051", r"0 and 2 are named and forgotten: offsets \{.*\b[02]: ")
def what_is_named_is_not_forgotten(request: FetchRequest) -> None:
    """The broker keeps a partition that a request names and forgets."""
    if request.session_epoch > 0 and request.topics:
        request.forgotten_topics_data = []


@answers("FETCH-052", r"the overtaken one: error is NONE")
def an_overtaken_fetch_is_served(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker serves a fetch that waited while the next epoch of its session was served."""
    if request.session_epoch > 0 and request.max_wait_ms >= LONG_WAIT_MS:
        answer.error_code = ErrorCode.NONE


@answers("FETCH-053", r"partition 0 had no records yet, \{1: 1\} came")
def each_answer_costs_a_turn(request: FetchRequest, answer: FetchResponse) -> None:
    """A partition that was returned for its log start goes behind the others."""
    if request.session_epoch <= 0:
        return
    for topic in answer.responses:
        if any(data.records and data.log_start_offset == 1 for data in topic.partitions):
            for data in topic.partitions:
                data.partition_index = 1 - data.partition_index


@answers("FETCH-054", r"partitions \((0, 1|2, 0)\), max_bytes 1048576: .*the sum is not in")
def the_broker_has_no_limit(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker fills a response as far as the request allows."""
    if request.max_bytes == ROOMY_BYTES:
        for topic in answer.responses:
            for data in topic.partitions:
                data.records = 2 * bytes(data.records or b"")


@answers("FETCH-029", r"name \[\[\], \[\]\], expected once NONE")
def what_was_known_before_an_error_is_no_news(request: FetchRequest, answer: FetchResponse) -> None:
    """The first answer after an error leaves out a partition whose log is as it was before."""
    if request.session_epoch > 0 and request.topics:
        for topic in answer.responses:
            topic.partitions = [p for p in topic.partitions if p.error_code or p.records]


@takes("FETCH-055", r"the closed segment: answered after \d+ ms, max_wait_ms is \d+", ONE_VERSION)
def a_closed_segment_is_waited_for(request: FetchRequest) -> None:
    """The broker waits for min_bytes in a segment that does not grow any more."""
    if request.min_bytes == UNREACHED_BYTES and request.max_wait_ms >= PATIENCE_MS:
        for topic in request.topics:
            for wanted in topic.partitions:
                wanted.fetch_offset += 1


class WhatIsForgottenStaysKnown(FrameRule):
    """The first answer after a partition was forgotten and added again leaves it out if its log is
    as it was before."""

    def __init__(self) -> None:
        self.forgotten: dict[int, set[int]] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, FetchRequest) or request.session_epoch <= 0:
            return [payload]
        for topic in request.forgotten_topics_data:
            known = self.forgotten.setdefault(request.session_id, set())
            known |= set(topic.partitions)
        return [edited(seen, payload, self.edit)]

    def edit(self, seen: SeenRequest, message: Message) -> None:
        request = seen.message
        assert isinstance(request, FetchRequest)
        assert isinstance(message, FetchResponse)
        known = self.forgotten.get(request.session_id, set())
        for topic in message.responses:
            topic.partitions = [
                one for one in topic.partitions if one.records or one.partition_index not in known
            ]


@answers("FETCH-063", r"isolation level 0: \(LSO, HW\) are \(-1, 1\)", asked=of_client("FETCH-063"))
def all_records_have_no_stable_offset(request: FetchRequest, answer: FetchResponse) -> None:
    """A Fetch of uncommitted records returns no last stable offset."""
    for topic in answer.responses if request.isolation_level == 0 else ():
        for data in topic.partitions:
            data.last_stable_offset = -1


@answers("FETCH-056", r"added: \(partition, high watermark\) are \[\[\(2, 1\)\], \[\]\]")
def an_empty_log_is_no_news(request: FetchRequest, answer: FetchResponse) -> None:
    """An incremental answer lacks a partition that was added, since its log is empty."""
    added = {
        (one.partition, one.fetch_offset) for each in request.topics for one in each.partitions
    }
    if request.session_epoch > 0 and added == {(1, 0), (2, 1)}:
        for topic in answer.responses:
            topic.partitions = [one for one in topic.partitions if one.high_watermark > 0]


DEFECTS = [
    all_records_have_no_stable_offset,
    an_empty_log_is_no_news,
    a_session_ends_with_its_connection,
    rule(
        "FETCH-056",
        r"partition 1 forgotten and added again: the answers name \[\{\}, \{\}\]",
        WhatIsForgottenStaysKnown,
    ),
    what_was_known_before_an_error_is_no_news,
    a_closed_segment_is_waited_for,
    a_deleted_partition_is_idle,
    rule(
        "FETCH-049",
        r"the next epoch with [-+]1: error is FETCH_SESSION_ID_NOT_FOUND",
        ARefusalClosesTheSession,
    ),
    a_session_keeps_no_leader_epoch,
    what_is_named_is_not_forgotten,
    an_overtaken_fetch_is_served,
    each_answer_costs_a_turn,
    replace(the_broker_has_no_limit, private=True),
]

"""Defects of area FETCH: cut requests, lost answers, clients that go away."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.fetch import SHORT_WAIT_MS
from labs.defects.one_client import is_from

ENOUGH_BYTES = 1 << 20
ONE_VERSION = 4  # where a defect makes the test wait, one version is enough


def _refuse_the_epoch(_: SeenRequest, message: FetchResponse) -> None:
    message.error_code = ErrorCode.INVALID_FETCH_SESSION_EPOCH
    message.responses = []


class HalfAFetchUsesUpItsEpoch(FrameRule):
    """The broker counts the epoch of a Fetch as used once it has received the beginning of it."""

    client = "FETCH-030"

    def __init__(self) -> None:
        self.was_cut = False

    def on_cut(self, rest: bytes) -> bytes:
        self.was_cut = self.was_cut or self.client.encode() in rest
        return rest

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not (self.was_cut and isinstance(seen.message, FetchRequest)):
            return [payload]
        if not is_from(seen, self.client):
            return [payload]
        return [edited(seen, payload, _refuse_the_epoch)]


class ASessionIsBusyWhileItWaits(FrameRule):
    """The broker refuses further requests of a session while a Fetch of it waits."""

    def __init__(self) -> None:
        self.waiting: dict[int, SeenRequest] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, FetchRequest) or request.session_epoch <= 0:
            return seen.payload
        if request.max_wait_ms >= SHORT_WAIT_MS:
            self.waiting[request.session_id] = seen
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, FetchRequest) or request.session_id not in self.waiting:
            return [payload]
        if self.waiting[request.session_id] is seen:
            del self.waiting[request.session_id]
            return [payload]
        return [edited(seen, payload, _refuse_the_epoch)]


@answers("FETCH-027", r"begins anew names partitions \[0\]")
def beginning_anew_is_incremental(request: FetchRequest, answer: FetchResponse) -> None:
    """A session that replaces another one returns only partitions with records."""
    if request.session_id > 0 and request.session_epoch == 0:
        for topic in answer.responses:
            topic.partitions = [data for data in topic.partitions if data.records]


class WhoWentAwayIsWokenFirst(FrameRule):
    """An append wakes only the client that waited first, even if that client has gone away."""

    def __init__(self) -> None:
        self.somebody_went = False

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self.somebody_went = self.somebody_went or is_from(seen, "FETCH-007 gone")
        request = seen.message
        if not isinstance(request, FetchRequest) or seen.version != ONE_VERSION:
            return seen.payload
        if not self.somebody_went or not is_from(seen, "FETCH-007"):
            return seen.payload
        request.min_bytes = ENOUGH_BYTES
        return with_body(seen, request)


class WhatWasSentIsGone(FrameRule):
    """The broker deletes records that it wrote to a connection, even if they did not arrive."""

    def __init__(self) -> None:
        self.was_sent = False

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self.was_sent = self.was_sent or is_from(seen, "FETCH-040 gone")
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not (self.was_sent and is_from(seen, "FETCH-040")):
            return [payload]
        return [edited(seen, payload, self.edit)]

    def edit(self, _: SeenRequest, message: FetchResponse) -> None:
        for topic in message.responses:
            for data in topic.partitions:
                data.records = b""


class MessagesEndNoWait(FrameRule):
    """The broker ends the wait of a fetch for batches, and not for messages of old producers."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, FetchRequest) or not is_from(seen, "FETCH-007 messages"):
            return seen.payload
        request.min_bytes = ENOUGH_BYTES
        return with_body(seen, request)


class NothingIsWaitedFor(FrameRule):
    """The broker does not answer a fetch without partitions as long as nothing wakes it."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_hit = seen.version == ONE_VERSION and is_from(seen, "FETCH-058")
        return None if is_hit else seen.payload


@answers("FETCH-059", r"values are \{2: \(1, \[b'meanwhile'\]\)\}, expected")
def idle_partitions_are_left_out(seen: SeenRequest, answer: FetchResponse) -> None:
    """The answer to a fetch that waited has only the partitions with records."""
    if is_from(seen, "FETCH-059"):
        for topic in answer.responses:
            topic.partitions = [data for data in topic.partitions if data.records]


DEFECTS = [
    idle_partitions_are_left_out,
    rule("FETCH-058", r"no response|no answer|not within", NothingIsWaitedFor),
    rule("FETCH-007", r"answered after \d+ ms, max_wait_ms is \d+", MessagesEndNoWait),
    rule("FETCH-007", r"answered after \d+ ms, max_wait_ms is \d+", WhoWentAwayIsWokenFirst),
    beginning_anew_is_incremental,
    rule(
        "FETCH-030",
        r"whole at last: error is INVALID_FETCH_SESSION_EPOCH",
        HalfAFetchUsesUpItsEpoch,
    ),
    rule(
        "FETCH-030",
        r"the next epoch: error is INVALID_FETCH_SESSION_EPOCH",
        ASessionIsBusyWhileItWaits,
    ),
    rule("FETCH-040", r"before an answer broke off, 0 after it", WhatWasSentIsGone),
]

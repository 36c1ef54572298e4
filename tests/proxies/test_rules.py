"""Each hook of a rule, and rules that fail."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

import pytest

from harness.codec.frame import frame
from harness.codec.header import decode_request_header, encode_request
from harness.codec.messages import FetchRequest, MetadataRequest, ProduceRequest
from harness.proxies import FrameRule, SeenRequest
from tests.proxies.ends import Ends, read, read_to_end, relayed

FIRST = encode_request(MetadataRequest(topics=[]), 1, 1)
SECOND = encode_request(FetchRequest(max_wait_ms=5), 4, 2)
BAD_LENGTH = struct.pack(">i", -5)


def exchange(ends: Ends, request: bytes, arrives: bytes, answer: bytes, returns: bytes) -> None:
    """Send one request and its answer, and check the frames that arrive."""
    ends.client.sendall(frame(request))
    assert read(ends.broker, len(frame(arrives))) == frame(arrives)
    ends.broker.sendall(frame(answer))
    assert read(ends.client, len(frame(returns))) == frame(returns)


class Swapping(FrameRule):
    """Changes each frame."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return seen.payload + b"-up"

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [payload + b"-down"]


def test_rule_changes_request_and_response() -> None:
    with relayed(Swapping()) as ends:
        exchange(ends, FIRST, FIRST + b"-up", b"answer", b"answer-down")


class Dropping(FrameRule):
    """Drops Metadata requests, and sends each answer so many times."""

    def __init__(self, copies: int = 2) -> None:
        self.copies = copies
        self.answered: list[tuple[str, int]] = []

    def on_request(self, seen: SeenRequest) -> bytes | None:
        assert seen.api is not None
        return None if seen.api.name == "Metadata" else seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        assert seen.api is not None
        self.answered.append((seen.api.name, seen.ordinal))
        return [payload] * self.copies


@pytest.mark.parametrize("copies", [0, 1, 3])
def test_rule_drops_requests_and_multiplies_responses(copies: int) -> None:
    rule = Dropping(copies)
    with relayed(rule) as ends:
        ends.client.sendall(frame(FIRST) + frame(SECOND) + frame(FIRST) + frame(SECOND))
        assert read(ends.broker, 2 * len(frame(SECOND))) == frame(SECOND) * 2
        ends.broker.sendall(frame(b"a") + frame(b"b"))
        ends.broker.shutdown(socket.SHUT_WR)
        assert read_to_end(ends.client) == frame(b"a") * copies + frame(b"b") * copies
    assert rule.answered == [("Fetch", 1), ("Fetch", 3)]


class Noting(FrameRule):
    """Records all calls."""

    def __init__(self) -> None:
        self.seen: list[SeenRequest] = []
        self.answers: list[tuple[object, bytes]] = []
        self.closed: list[int] = []

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self.seen.append(seen)
        seen.notes["number"] = len(self.seen)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        self.answers.append((seen.notes["number"], payload))
        return [payload]

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        self.closed.append(seen.ordinal)
        return [b"instead of the answer"]


def test_response_is_matched_to_request_that_expects_one() -> None:
    """Produce with acks=0 gets no answer, so the next answer is that to the next request."""
    rule = Noting()
    silent = encode_request(ProduceRequest(acks=0), 3, 9)
    with relayed(rule) as ends:
        for request in (FIRST, silent, SECOND):
            ends.client.sendall(frame(request))
        read(ends.broker, len(frame(FIRST) + frame(silent) + frame(SECOND)))
        ends.broker.sendall(frame(b"one") + frame(b"three") + frame(b"unasked"))
        assert read(ends.client, 27) == frame(b"one") + frame(b"three") + frame(b"unasked")
    assert rule.answers == [(1, b"one"), (3, b"three")]


@pytest.mark.parametrize(("acks", "made", "named"), [(0, 1, b"a"), (1, 0, b"b")])
def test_response_matching_follows_acks_of_rewritten_request(
    acks: int, made: int, named: bytes
) -> None:
    """A rule that changes acks changes whether the broker answers."""

    class ChangesAcks(Noting):
        def on_request(self, seen: SeenRequest) -> bytes | None:
            super().on_request(seen)
            if seen.ordinal > 0:
                return seen.payload
            return encode_request(ProduceRequest(acks=made), 3, 9)

    rule = ChangesAcks()
    sent = encode_request(ProduceRequest(acks=acks), 3, 9)
    with relayed(rule) as ends:
        ends.client.sendall(frame(sent) + frame(FIRST))
        read(ends.broker, len(frame(sent) + frame(FIRST)))
        ends.broker.sendall(frame(named))
        assert read(ends.client, 5) == frame(named)
    assert rule.answers == [(1 if made else 2, named)]


@pytest.mark.parametrize("half", [True, False])
def test_rule_sends_response_when_broker_closes(half: bool) -> None:
    rule = Noting()
    with relayed(rule) as ends:
        ends.client.sendall(frame(FIRST) + frame(SECOND) + frame(FIRST))
        read(ends.broker, len(frame(FIRST) * 2 + frame(SECOND)))
        ends.broker.sendall(frame(b"one") + b"\0\0")
        if half:
            ends.broker.shutdown(socket.SHUT_WR)
        else:
            ends.broker.close()
        last = frame(b"one") + b"\0\0" + frame(b"instead of the answer")
        assert read_to_end(ends.client) == last
    assert rule.closed == [1]


def test_broker_close_without_open_request_calls_no_close_hook() -> None:
    rule = Noting()
    with relayed(rule) as ends:
        exchange(ends, FIRST, FIRST, b"one", b"one")
        ends.broker.close()
        assert read_to_end(ends.client) == b""
    assert rule.closed == []


def test_relay_stop_calls_no_close_hook() -> None:
    rule = Noting()
    with relayed(rule) as ends:
        ends.client.sendall(frame(FIRST))
        read(ends.broker, len(frame(FIRST)))
    assert rule.closed == []


class AnswersBadLength(FrameRule):
    """Answers where a broker would close."""

    def on_bad_length(self, length: int) -> bytes | None:
        return b"not " + str(length).encode()


def test_rule_responds_to_bad_length_and_broker_receives_no_more() -> None:
    with relayed(AnswersBadLength()) as ends:
        ends.client.sendall(frame(FIRST) + BAD_LENGTH + b"junk")
        assert read(ends.client, 6) == b"not -5"
        ends.client.sendall(b"more junk")
        ends.client.shutdown(socket.SHUT_WR)
        assert read_to_end(ends.broker) == frame(FIRST)
        ends.broker.sendall(frame(b"still heard"))
        ends.broker.close()
        assert read_to_end(ends.client) == frame(b"still heard")


class Failing(FrameRule):
    """Fails in every hook, one way or another."""

    def __init__(self, how: str) -> None:
        self.how = how

    def fail(self) -> object:
        if self.how == "raises":
            raise RuntimeError("a rule of somebody else")
        return 5 if self.how == "number" else "text"

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return self.fail()  # type: ignore[return-value]

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [payload, self.fail()]  # type: ignore[list-item]

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        return [b"never sent", self.fail()]  # type: ignore[list-item]

    def on_bad_length(self, length: int) -> bytes | None:
        return self.fail()  # type: ignore[return-value]


@pytest.mark.parametrize("how", ["raises", "number", "text"])
def test_failing_rule_is_recorded_and_changes_no_bytes(how: str) -> None:
    with relayed(Failing(how)) as ends:
        exchange(ends, FIRST, FIRST, b"answer", b"answer")
        ends.client.sendall(frame(SECOND) + BAD_LENGTH + b"junk")
        assert read(ends.broker, len(frame(SECOND)) + 8) == frame(SECOND) + BAD_LENGTH + b"junk"
        ends.broker.close()
        assert read_to_end(ends.client) == b""
        errors = ends.running.relay.rule_errors
        wanted = RuntimeError if how == "raises" else TypeError
        assert [type(error) for error in errors] == [
            wanted
        ] * 5  # two requests, an answer, a bad length, the end


# -- what a rule sees ----------------------------------------------------------------------------


def test_seen_request_decodes_header_api_and_message() -> None:
    seen = SeenRequest(encode_request(FetchRequest(max_wait_ms=5), 4, 8, "me"))
    assert seen.header == decode_request_header(seen.payload)[0]
    assert seen.api is not None
    assert (seen.api.name, seen.version, seen.gets_answer) == ("Fetch", 4, True)
    assert seen.message == FetchRequest(max_wait_ms=5)


@pytest.mark.parametrize("payload", [b"", b"junk", struct.pack(">hhih", 999, 0, 1, -1)])
def test_undecodable_request_has_no_header_or_message(payload: bytes) -> None:
    seen = SeenRequest(payload)
    assert (seen.header, seen.api, seen.version, seen.message) == (None, None, -1, None)
    assert seen.gets_answer


def test_request_with_undecodable_body_has_api_but_no_message() -> None:
    seen = SeenRequest(encode_request(ProduceRequest(acks=0), 3, 8)[:-3])
    assert seen.api is not None
    assert seen.message is None
    assert seen.gets_answer

"""The conditions at any moment of a play, and at its end, computed without the engine's code."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

from harness.codec.frame import frame
from harness.proxies.counters import Traffic
from harness.proxies.toxics.chain import PIECE_COST_BYTES
from harness.proxies.unanswered import OwnAnswer
from labs.fuzz.proxied.faults import (
    ANSWERING,
    COLLECTING,
    COPYING,
    LONGEST_ANSWER,
    MOST_COPIES,
    SLOW_BYTES,
    SLOWING,
    WINDOW,
)
from labs.fuzz.proxied.memory_transport import HIGH_WATER_BYTES, READ_BYTES, MemoryTransport
from labs.fuzz.proxied.play import DOWN, MOST_GROWTH, UP, Play

_LENGTH = struct.Struct(">i")
_KIND = struct.Struct(">hh")
_HEAD_BYTES = {UP: 8, DOWN: 4}
_SMALLEST_FRAME = 4
_LONGEST = 2**31 - 1


class ExpectedStream(NamedTuple):
    """A stream as frames; ``rest``: the bytes after them, an unfinished frame or, if ``is_lost``,
    an impossible length.
    """

    frames: Sequence[bytes]
    rest: bytes
    is_lost: bool


def read_frames(stream: bytes, longest: int) -> ExpectedStream:
    """Return the frames, each with its length."""
    frames: list[bytes] = []
    at = 0
    while len(stream) - at >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(stream, at)
        if not 0 <= length <= longest:
            return ExpectedStream(frames, stream[at:], True)
        if len(stream) - at < _LENGTH.size + length:
            break
        frames.append(stream[at : at + _LENGTH.size + length])
        at += _LENGTH.size + length
    return ExpectedStream(frames, stream[at:], False)


# -- at any moment ---------------------------------------------------------------------------------


def check_moment(play: Play) -> None:
    """Assert that nothing was raised, and that the limits of held bytes and pieces are kept."""
    assert not play.proxy.errors, play.proxy.errors
    if not (play.proxy.connections or play.proxy.pending_tasks):
        assert not play.loop.timers, f"timers are left: {play.loop.timers}"
    held, most = held_by(play), most_held(play)
    assert held.size <= most.size, f"{held.size} bytes are held, {most.size} may be"
    assert held.pieces <= most.pieces, f"{held.pieces} pieces are held, {most.pieces} may be"


class Held(NamedTuple):
    """``pieces``: objects, each of which costs more than its bytes."""

    size: int
    pieces: int


def held_by(play: Play) -> Held:
    """Return all bytes that were sent and neither received nor given up, and the state kept for
    them.

    They are summed up where they are kept: the engine's own sums are under test.
    """
    connection = play.connection
    size, pieces = 0, 0
    for stream in (connection.upstream, connection.downstream):
        held = [item if isinstance(item, bytes) else getattr(item, "data", b"")
                for item in stream._queue]  # fmt: skip
        size, pieces = size + sum(map(len, held)), pieces + len(held)
        chain = stream.way.chain
        if chain:
            size += chain.held_bytes
            pieces += sum(stage.held_pieces for stage in chain._active)
    for peer in (play.client, play.broker):
        size += peer.get_write_buffer_size()
    if connection.requests and connection.responses:
        unanswered = connection.requests._unanswered
        owns = [own.data or b"" for own in unanswered._queue if isinstance(own, OwnAnswer)]
        size += sum(map(len, owns)) + unanswered.kept_bytes
        size += sum(len(seen.payload) for seen in connection.requests._withheld.values())
        for watch in (connection.requests, connection.responses):
            size += watch.finder.pending_bytes
            pieces += len(watch._acts)
        pieces += len(owns)
        assert len(unanswered) <= play.limits.unanswered
    return Held(size + _in_windows(play), pieces)


def _in_windows(play: Play) -> int:
    """The bytes that rules have collected, of both directions."""
    memories = [kept for armed in play.rules._armed.values() for kept in armed._memory.values()]
    return sum(len(one) for kept in memories if "window" in kept for one in kept["window"].frames)


def most_held(play: Play) -> Held:
    """Return the most that the limits allow: each direction may have its limit in steps and toxics,
    the high-water mark in front of a socket, one unfinished frame, and the output of one read.
    """
    limits, frames = play.limits, READ_BYTES // _SMALLEST_FRAME + 3
    collected = min(limits.collected_bytes, limits.request_bytes)
    rules = play.script.rules if play.script.has_rules else 0
    growth = (MOST_COPIES if rules & COPYING else 1) * (MOST_GROWTH if play.rewriter else 1)
    read = growth * (READ_BYTES + collected)
    window = WINDOW * growth * collected if rules & COLLECTING else 0
    answers = frames * LONGEST_ANSWER if rules & ANSWERING else 0
    size = limits.held_bytes + HIGH_WATER_BYTES + collected + read + 2 * window
    parts = 2 * (1 + collected // SLOW_BYTES) if rules & SLOWING else 2
    pieces = limits.held_bytes // PIECE_COST_BYTES + frames * MOST_COPIES * parts
    return Held(2 * (size + limits.kept_bytes) + answers, 2 * pieces)


# -- at the end ------------------------------------------------------------------------------------


def check_end(play: Play) -> None:
    """Assert that nothing is pending, no bytes were lost without a cause, and all were counted."""
    assert not play.proxy.connections, "a connection stays open"
    assert not play.loop.timers, f"timers are left: {play.loop.timers}"
    assert play.proxy.pending_tasks == 0
    assert play.proxy.held_bytes == 0
    assert play.proxy.counters.open == 0
    for armed in play.rules._armed.values():
        assert not armed._memory, "a rule remembers a connection that is gone"
    _check_counters(play)
    if not play.script.has_rules:
        _check_bytes(play)


def _check_counters(play: Play) -> None:
    counters = play.proxy.counters
    assert counters.upstream.sent_bytes == play.broker.written_bytes
    assert counters.downstream.sent_bytes == play.client.written_bytes
    for traffic, side, longest, head in (
        (counters.upstream, play.client, play.limits.request_bytes, _HEAD_BYTES[UP]),
        (counters.downstream, play.broker, _LONGEST, _HEAD_BYTES[DOWN]),
    ):
        came = bytes(side.delivered)
        assert traffic.bytes == len(came)
        found = read_frames(came, longest)
        counted = [len(one) for one in found.frames]
        pending = 0
        if not found.is_lost and len(found.rest) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(found.rest)
            if len(found.rest) - _LENGTH.size >= min(head, length):
                counted.append(_LENGTH.size + length)
            else:
                pending = len(found.rest)
        else:
            pending = 0 if found.is_lost else len(found.rest)
        assert (traffic.frames, _frame_bytes(traffic)) == (len(counted), sum(counted))
        assert traffic.lost_framing == found.is_lost
        assert traffic.unparsed_bytes == (len(found.rest) if found.is_lost else 0)
        missing = sum(counted) - sum(map(len, found.frames))
        if missing:
            missing -= len(found.rest)
        assert traffic.bytes == sum(counted) - missing + traffic.unparsed_bytes + pending
        assert traffic.cut_short <= (bool(found.rest) and not found.is_lost)
        if not (play.script.has_rules or _is_disturbed(play)):
            assert traffic.cut_short == (bool(found.rest) and not found.is_lost)


def _frame_bytes(traffic: Traffic) -> int:
    return sum(tally.frame_bytes for tally in traffic.by_api.values())


def _is_disturbed(play: Play) -> bool:
    """True if bytes may be lost: a peer left or never came, or did not read for too long."""
    return bool(
        play.is_disturbed
        or play.proxy.counters.not_connected
        or play.client.dropped_bytes
        or play.broker.dropped_bytes
    )


def _check_bytes(play: Play) -> None:
    """Assert that the output equals the input; after a disturbance, that it is a prefix of it."""
    up, down = bytes(play.broker.received), bytes(play.client.received)
    if play.rewriter is None:
        _check_same(play, play.client, up)
        _check_same(play, play.broker, down)
    else:
        _check_rewritten(play, play.client, up, play.limits.request_bytes)
        _check_rewritten(play, play.broker, down, _LONGEST)


def _check_same(play: Play, side: MemoryTransport, came: bytes) -> None:
    sent = bytes(side.delivered) + side.unread
    if _is_disturbed(play):
        assert sent.startswith(came), f"{came.hex()} came of {sent.hex()}"
    else:
        assert came == sent, f"{came.hex()} came of {sent.hex()}"


def _check_rewritten(play: Play, side: MemoryTransport, came: bytes, longest: int) -> None:
    """Assert that each frame is unchanged, or as the rewriter makes it; the rest is unchanged."""
    found = read_frames(bytes(side.delivered) + side.unread, longest)
    if side is play.client:
        makes = partial(_requests_made, play)
    else:
        makes = partial(_responses_made, play, _kinds_asked(play))
    at = 0
    for one in found.frames:
        others = [one, *makes(one[_LENGTH.size :])]
        passed = next((other for other in others if came.startswith(other, at)), None)
        if passed is None:
            assert _is_disturbed(play), f"{one.hex()} is {came[at : at + len(one)].hex()}"
            assert any(other.startswith(came[at:]) for other in others)
            return
        at += len(passed)
    if _is_disturbed(play):
        assert found.rest.startswith(came[at:])
    else:
        assert came[at:] == found.rest


def _requests_made(play: Play, payload: bytes) -> Iterator[bytes]:
    if len(payload) < _HEAD_BYTES[UP] or play.rewriter is None:
        return
    if play.rewriter.touches(UP, *_KIND.unpack_from(payload)):
        made = play.rewriter.request(payload, play.connection.place)
        if made is not None:
            yield frame(made)


def _kinds_asked(play: Play) -> set[tuple[int, int]]:
    """Return API key and version of each request, also of one that ends too early."""
    asked = read_frames(bytes(play.client.delivered), play.limits.request_bytes)
    heads = {one[4:8] for one in (*asked.frames, asked.rest) if len(one) >= 12}
    return {_KIND.unpack(head) for head in heads}


def _responses_made(play: Play, kinds: Set[tuple[int, int]], payload: bytes) -> Iterator[bytes]:
    """Yield the rewritten response, as an answer to any of the requests."""
    if play.rewriter is None:
        return
    for key, version in kinds:
        if play.rewriter.touches(DOWN, key, version):
            made = play.rewriter.response(payload, (key, version), play.connection.place)
            if made is not None:
                yield frame(made)

"""Captures: TCP segments in any order and with any bytes, and files that claim to be captures.

An input is a byte for the mode, then either a capture file, or segments: a byte for direction and
flags, two for the jump of the sequence number, two for the length, the payload.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import islice

from harness.capture.capture_file import CaptureFile
from harness.capture.errors import CaptureError
from harness.capture.events import Captured
from harness.capture.follow import Follower
from harness.capture.limits import CaptureLimits
from harness.capture.segment import ACK, FIN, RST, SYN, SocketAddress, TcpSegment
from harness.codec import CodecError
from labs.captures.recorded import SMALL, port_of, segments
from labs.fuzz.memory import check_memory, sampled
from labs.fuzz.targets.messages import HOSTILE

CLIENT, BROKER = SocketAddress(b"\x7f\0\0\1", 40000), SocketAddress(b"\x7f\0\0\1", 9092)
LIMITS = CaptureLimits(
    out_of_order_bytes=4096,
    acknowledged_patience=4,
    patience=16,
    start_packets=4,
    frame_bytes=2048,
    search_bytes=4096,
    pending_requests=8,
    pending_bytes=4096,
    connections=4,
)
_PIECE = struct.Struct(">BHH")
_MODES = 4  # 0: a file; 1: port known; 2: port unknown; 3: port known, other limits
_FLAGS = (ACK, ACK, ACK, ACK | SYN, ACK | FIN, RST, SYN, 0)
_MEASURED = 256  # one input in so many
_CONNECTION_BYTES = 1024 * 1024


def check(data: bytes) -> None:
    """Damage is reported as an event; nothing is raised but by a file that is none."""
    if not data:
        return
    mode, raw = data[0] % _MODES, data[1:]
    if mode == 0:
        with suppress(CaptureError):
            _follow(CaptureFile(BytesIO(raw)), Follower(()), len(raw))
        return
    ports = (BROKER.port,) if mode != 2 else ()
    limits = LIMITS if mode != 3 else CaptureLimits()
    _follow(_segments(raw), Follower(ports, limits), len(raw))
    if sampled(data, _MEASURED):
        follower = Follower(ports, limits)
        check_memory(
            lambda: _follow(_segments(raw), follower, len(raw)), len(raw), _CONNECTION_BYTES
        )


def _follow(found: CaptureFile | Iterator[TcpSegment], follower: Follower, size: int) -> None:
    for event in follower.events(found):
        if not isinstance(event, Captured):
            assert event.kind
            assert event.text
            continue
        assert len(event.payload) <= size
        assert event.problem is None or isinstance(event.problem, CodecError), event.problem
        assert event.message is None or event.api is not None
        assert event.latency_ns is None or event.request is not None


def _segments(raw: bytes) -> Iterator[TcpSegment]:
    """The segments that an input stands for; the last payload may be cut."""
    seq = {CLIENT: 1000, BROKER: 7000}
    at, time_ns = 0, 0
    while at + _PIECE.size <= len(raw):
        kind, jump, length = _PIECE.unpack_from(raw, at)
        at += _PIECE.size
        payload = raw[at : at + length % 2048]
        at += len(payload)
        source, other = (CLIENT, BROKER) if kind % 2 == 0 else (BROKER, CLIENT)
        flags, missing = _FLAGS[kind // 2 % 8], kind // 16 if kind >= 128 else 0
        number = (seq[source] + jump - 0x8000) % 2**32
        time_ns += 1_000_000
        yield TcpSegment(time_ns, source, other, number, seq[other], flags, payload, missing)
        seq[source] = (number + len(payload) + missing + bool(flags & (SYN | FIN))) % 2**32


def seeds() -> Iterator[tuple[str, bytes]]:
    """Conversations of real clients with a real Kafka, and the beginnings of the files."""
    for file in SMALL:
        port = port_of(file)
        for begin in (0, 40):
            pieces = [
                _piece(segment, port)
                for segment in islice(segments(file), begin, begin + 30)
                if len(segment.payload) < 1000
            ]
            for mode in (1, 2, 3):
                yield f"{file.stem}-{begin}-{mode}", bytes([mode]) + b"".join(pieces)[:2500]
        yield f"{file.stem}-file", b"\0" + file.read_bytes()[:3000]


def _piece(segment: TcpSegment, port: int) -> bytes:
    wanted = segment.flags & (SYN | FIN | RST | ACK)
    flags = _FLAGS.index(wanted) if wanted in _FLAGS else 0
    kind = 2 * flags + (segment.source.port == port)
    return _PIECE.pack(kind, 0x8000, len(segment.payload)) + segment.payload


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Another mode, a jump of the sequence number, a lie in a payload, or a piece twice."""
    if len(data) < 10:
        return data
    how = chance.randrange(4)
    if how == 0:
        return bytes([chance.randrange(1, _MODES)]) + data[1:]
    made = bytearray(data)
    starts = _starts(data)
    at = chance.choice(starts) if starts else 1
    if how == 1 and at + _PIECE.size <= len(made):
        jump = 0x8000 + chance.choice((-9, -1, 1, 8, 100, 2000))
        struct.pack_into(">H", made, at + 1, jump)
    elif how == 2 and starts:
        stop = chance.choice(starts)
        made[stop:stop] = made[at : at + chance.choice((5, 9, 60))]
    else:
        wrong = chance.choice(HOSTILE)
        place = chance.randrange(1, len(made))
        made[place : place + len(wrong)] = wrong
    return bytes(made)


def _starts(data: bytes) -> list[int]:
    found, at = [], 1
    while at + _PIECE.size <= len(data):
        found.append(at)
        at += _PIECE.size + _PIECE.unpack_from(data, at)[2] % 2048
    return found


def repaired(data: bytes, chance: random.Random) -> bytes:
    """As it is: checksums of TCP are not looked at."""
    return data

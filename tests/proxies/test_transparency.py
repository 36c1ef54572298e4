"""Under the plain rule nothing changes: bytes, chunkings, half frames, half-closes."""

from __future__ import annotations

import socket
import struct
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest, ProduceRequest
from harness.proxies import RunningRelay
from labs.hang_limit import HANGS_AFTER_S
from tests.proxies.ends import Ends, in_background, read, read_to_end, relayed

FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
REQUEST = frame(encode_request(MetadataRequest(), 1, 1))
NO_ANSWER = frame(encode_request(ProduceRequest(acks=0), 3, 2))
BAD_LENGTH = struct.pack(">i", -1)
PARTS = st.sampled_from([REQUEST, NO_ANSWER, frame(b""), frame(b"x" * 70_000), BAD_LENGTH])
STREAMS = st.lists(PARTS | st.binary(max_size=40), max_size=5).map(b"".join)
CUTS = st.lists(st.floats(0, 1), max_size=6)


def cut(stream: bytes, at: list[float]) -> list[bytes]:
    edges = [0, *sorted(int(place * len(stream)) for place in at), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges)]


@FEW
@given(up=STREAMS, down=STREAMS, up_cuts=CUTS, down_cuts=CUTS)
def test_any_chunks_pass_unchanged_in_both_directions(
    up: bytes, down: bytes, up_cuts: list[float], down_cuts: list[float]
) -> None:
    with relayed() as ends:
        senders = [
            in_background(ends.client, cut(up, up_cuts), end=True),
            in_background(ends.broker, cut(down, down_cuts), end=True),
        ]
        assert read_to_end(ends.broker) == up
        assert read_to_end(ends.client) == down
        for sender in senders:
            sender.join()
        assert ends.running.relay.rule_errors == []


def ends_of(ends: Ends, first: str) -> tuple[socket.socket, socket.socket]:
    """(the side that ends first, the other)."""
    return (ends.client, ends.broker) if first == "client" else (ends.broker, ends.client)


@pytest.mark.parametrize("first", ["client", "broker"])
@pytest.mark.parametrize("rest", [b"", REQUEST, REQUEST[:-1], REQUEST[:2], b"\xff\xff\xff\xffjunk"])
def test_half_close_of_one_direction_keeps_other_open(first: str, rest: bytes) -> None:
    with relayed() as ends:
        ending, going_on = ends_of(ends, first)
        ending.sendall(rest)
        ending.shutdown(socket.SHUT_WR)
        assert read_to_end(going_on) == rest
        for piece in (frame(b"one"), frame(b"two" * 50_000), b"\0\0\0\7half"):
            going_on.sendall(piece)
        going_on.shutdown(socket.SHUT_WR)
        assert read_to_end(ending) == frame(b"one") + frame(b"two" * 50_000) + b"\0\0\0\7half"


@pytest.mark.parametrize("first", ["client", "broker"])
def test_close_by_one_peer_ends_connection_of_other(first: str) -> None:
    with relayed() as ends:
        ending, other = ends_of(ends, first)
        ending.sendall(frame(b"last"))
        ending.close()
        assert read_to_end(other) == frame(b"last")


@pytest.mark.parametrize("first", ["client", "broker"])
def test_reset_by_one_peer_closes_other_side(first: str) -> None:
    with relayed() as ends:
        ending, other = ends_of(ends, first)
        ending.sendall(frame(b"last"))
        assert read(other, 8) == frame(b"last")
        ending.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        ending.close()
        assert read_to_end(other) == b""


def test_request_frame_is_forwarded_only_when_complete() -> None:
    with relayed() as ends:
        ends.client.sendall(REQUEST[:7])
        ends.broker.sendall(frame(b"unasked"))
        assert read(ends.client, 11) == frame(b"unasked")
        ends.broker.setblocking(False)
        with pytest.raises(BlockingIOError):
            ends.broker.recv(1)
        ends.broker.settimeout(HANGS_AFTER_S)
        ends.client.sendall(REQUEST[7:])
        assert read(ends.broker, len(REQUEST)) == REQUEST


def test_relay_with_unreachable_upstream_closes_client() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        upstream = listener.getsockname()
    with RunningRelay(upstream) as running, socket.create_connection(running.address, 10) as client:
        client.settimeout(HANGS_AFTER_S)
        assert client.recv(1) == b""

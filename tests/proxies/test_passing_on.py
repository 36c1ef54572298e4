"""Under the plain rule nothing changes: bytes, chunkings, half frames, half-closes."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest, ProduceRequest
from tests.proxies.ends import Ends, in_background, read, read_to_end, relayed

FEW = settings(
    max_examples=25, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
REQUEST = frame(encode_request(MetadataRequest(), 1, 1))
NO_ANSWER = frame(encode_request(ProduceRequest(acks=0), 3, 2))
BAD_LENGTH = struct.pack(">i", -1)
PARTS = st.sampled_from([REQUEST, NO_ANSWER, frame(b""), frame(b"x" * 70_000), BAD_LENGTH])
STREAMS = st.lists(PARTS | st.binary(max_size=40), max_size=5).map(b"".join)
CUTS = st.lists(st.floats(0, 1), max_size=6)


def cut(stream: bytes, at: list[float]) -> list[bytes]:
    edges = [0, *sorted(int(place * len(stream)) for place in at), len(stream)]
    return [stream[start:stop] for start, stop in zip(edges[:-1], edges[1:], strict=True)]


@FEW
@given(up=STREAMS, down=STREAMS, up_cuts=CUTS, down_cuts=CUTS)
def test_any_bytes_in_any_chunks_pass_unchanged_both_ways(
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


SIDES = ["client", "broker"]


@pytest.fixture
def ends() -> Ends:  # the teardown is the context manager's
    raise NotImplementedError

"""Frames from a connection, however they are cut."""

from __future__ import annotations

import asyncio
import struct
from unittest.mock import create_autospec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reference_broker.cluster.answers import (
    FIRST_BUFFER_BYTES,
    MOST_BYTES,
    AnswerProtocol,
)


def framed(*payloads: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads)


class Fed:
    """A protocol and the payloads that it took; `transport` notes an abort."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.is_gone = False
        self.transport = create_autospec(asyncio.Transport, instance=True)
        self.protocol = AnswerProtocol(self.taken.append, self._note_gone)
        self.protocol.connection_made(self.transport)

    def _note_gone(self) -> None:
        self.is_gone = True

    def feed(self, data: bytes, most_bytes: int) -> None:
        """Feed bytes as a socket does: as many as the buffer holds, at most so many at once."""
        while data:
            room = self.protocol.get_buffer(-1)
            count = min(len(room), len(data), most_bytes)
            assert count > 0
            room[:count] = data[:count]
            self.protocol.buffer_updated(count)
            data = data[count:]


@pytest.mark.rotates(8)
@given(
    payloads=st.lists(st.binary(max_size=300), max_size=8),
    most_bytes=st.integers(min_value=1, max_value=700),
)
def test_frames_are_complete_for_each_split_of_stream(
    payloads: list[bytes], most_bytes: int
) -> None:
    fed = Fed()
    fed.feed(framed(*payloads), most_bytes)
    assert fed.taken == payloads


def test_frame_larger_than_buffer_is_received_whole() -> None:
    fed = Fed()
    payloads = [b"a", bytes(range(256)) * 1024, b"", b"z" * (FIRST_BUFFER_BYTES + 1)]
    fed.feed(framed(*payloads), 50_000)
    assert fed.taken == payloads


@pytest.mark.parametrize("length", [-1, MOST_BYTES])
def test_illegal_frame_length_aborts_connection(length: int) -> None:
    fed = Fed()
    fed.feed(framed(b"good") + struct.pack(">i", length), 100)
    assert fed.taken == [b"good"]
    fed.transport.abort.assert_called_once()


def test_connection_end_calls_callback_and_drops_partial_frame() -> None:
    fed = Fed()
    fed.feed(framed(b"good")[:-1], 100)
    fed.protocol.connection_lost(None)
    assert fed.is_gone
    assert fed.taken == []

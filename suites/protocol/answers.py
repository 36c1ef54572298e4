"""Answers as frames: whose they are, before anything else of them is read."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.client.connection import Connection


def correlation_id_of(payload: bytes) -> int:
    """The first four bytes of an answer."""
    assert len(payload) >= 4, f"an answer of {len(payload)} bytes has no correlation id"
    found: int = struct.unpack_from(">i", payload)[0]
    return found


def expect_answers(connection: Connection, correlation_ids: Sequence[int]) -> None:
    """The next answers carry exactly these ids, in this order."""
    for position, expected in enumerate(correlation_ids):
        found = correlation_id_of(connection.receive_frame())
        assert found == expected, (
            f"answer {position} has correlation id {found}, in the order sent it is {expected}"
        )

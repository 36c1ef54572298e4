"""Responses as frames: their correlation ids, before the client decodes anything else of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.client.connection import Connection


def correlation_id_of(payload: bytes) -> int:
    """Return the correlation id, the first four bytes of a response."""
    assert len(payload) >= 4, f"an answer of {len(payload)} bytes has no correlation id"
    found: int = struct.unpack_from(">i", payload)[0]
    return found


def expect_answers(connection: Connection, correlation_ids: Sequence[int]) -> None:
    """The next responses have exactly these correlation ids, in this order."""
    for position, expected in enumerate(correlation_ids):
        found = correlation_id_of(connection.receive_frame())
        assert found == expected, (
            f"answer {position} has correlation id {found}, in the order sent it is {expected}"
        )

"""``acks`` of a Produce request with an incomplete body: it stands near the beginning."""

from __future__ import annotations

from harness.codec.varint import decode_uvarint

_TRANSACTIONAL_ID_FROM = 3
_FLEXIBLE_FROM = 9


def acks_at_start(version: int, body: bytes) -> int | None:
    """Return ``acks``, None when not even that much is there. ``body``: behind the header."""
    at = 0
    try:
        if version >= _FLEXIBLE_FROM:
            length, at = decode_uvarint(body, 0)
            at += max(0, length - 1)
        elif version >= _TRANSACTIONAL_ID_FROM:
            at = 2 + max(0, int.from_bytes(body[:2], "big", signed=True))
    except (IndexError, ValueError):
        return None
    found = body[at : at + 2]
    return int.from_bytes(found, "big", signed=True) if len(found) == 2 else None

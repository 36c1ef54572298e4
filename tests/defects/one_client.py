"""Defects that one client meets.

Some promises hold for every request, so a broker that breaks them everywhere breaks every test.
To see that the one test notices, such a defect strikes one client id alone: that with which the
test of this requirement connects.
"""

from __future__ import annotations

from harness.proxies import SeenRequest

HEADER_START_BYTES = 9  # key, version, correlation id, half of the client id's length


def is_from(seen: SeenRequest, client_id: str) -> bool:
    """Whether the request's header can be read and has this client id."""
    return seen.header is not None and seen.header.client_id == client_id


def misread(seen: SeenRequest) -> bytes:
    """What a broker is left with that stops reading too early: it closes the connection."""
    return seen.payload[:HEADER_START_BYTES]

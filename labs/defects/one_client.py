"""Defects that strike one client.

Some requirements hold for every request, so a broker that breaks them everywhere breaks every
test. To see that one test notices, such a defect strikes only the client id with which the test
of this requirement connects.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.proxies import SeenRequest

HEADER_START_BYTES = 9  # key, version, correlation id, half of the client id's length


def is_from(seen: SeenRequest, client_id: str) -> bool:
    """True if the request's header can be decoded and has this client id."""
    return seen.header is not None and seen.header.client_id == client_id


def of_client(client_id: str) -> Callable[[SeenRequest], bool]:
    """Make the condition that this client sent the request: :func:`is_from` for a maker."""
    return lambda seen: is_from(seen, client_id)


def misread(seen: SeenRequest) -> bytes:
    """The start of a request: a broker that reads no more of it closes the connection."""
    return seen.payload[:HEADER_START_BYTES]

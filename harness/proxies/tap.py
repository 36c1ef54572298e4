"""Taps at the sockets of a proxy; without a tap nothing is added to the way of bytes."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Tap(Protocol):
    """Called once for each socket; the result stands between the socket and our side of it.

    It must pass on every call both ways. To leave a socket out the tap returns the side itself.
    ``link``: of the proxy, as ``2->1``.
    """

    def client(self, side: asyncio.Protocol, link: str) -> asyncio.Protocol:
        """Tap a connection that was accepted."""

    def broker(self, side: asyncio.Protocol, link: str) -> asyncio.Protocol:
        """Tap the connection to the upstream that is made for it."""

"""Who listens at the sockets of a proxy: nothing on the way of bytes while nobody does."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Tap(Protocol):
    """Asked once for each socket; what it returns stands between the socket and our side of it.

    That must pass on every call both ways. To hear nothing of a socket it returns the side itself.
    ``link``: of the proxy, as ``2->1``.
    """

    def client(self, side: asyncio.Protocol, link: str) -> asyncio.Protocol:
        """Of a connection that was accepted."""

    def broker(self, side: asyncio.Protocol, link: str) -> asyncio.Protocol:
        """Of the connection to the upstream that is made for it."""

"""The watch over the connections that enter as the user of the run, for what that user lacks."""

from __future__ import annotations

from typing import Protocol


class UserFrames(Protocol):
    """Sees the whole frames of one connection, without their lengths."""

    def sent(self, payload: bytes) -> None:
        """A request, or anything else, goes out."""

    def received(self, payload: bytes) -> None:
        """A frame of the broker has come."""


class UserWatch(Protocol):
    """Counts the requests of that user which were refused."""

    @property
    def count(self) -> int:
        """The number of refusals so far."""

    def new_connection(self) -> UserFrames:
        """Return the watch of a new connection."""

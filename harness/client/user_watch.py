"""The watch over the connections that enter as the user of the run, for what that user lacks."""

from __future__ import annotations

from typing import Protocol

from harness.client.wire_coverage import Observer


class UserWatch(Protocol):
    """Sees the requests and answers of that user, and counts the refused ones."""

    @property
    def count(self) -> int:
        """The number of refusals so far."""

    def beside(self, observer: Observer | None) -> Observer:
        """Return the observer of a new connection, which calls ``observer`` too."""

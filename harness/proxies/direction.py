"""The two ways through a proxied connection."""

from __future__ import annotations

from enum import StrEnum


class Direction(StrEnum):
    """As toxiproxy calls them: seen from who opened the connection."""

    UPSTREAM = "upstream"  # to the broker: requests
    DOWNSTREAM = "downstream"  # back: responses

    @property
    def other(self) -> Direction:
        return Direction.DOWNSTREAM if self is Direction.UPSTREAM else Direction.UPSTREAM

"""The two directions of a proxied connection."""

from __future__ import annotations

from enum import StrEnum


class Direction(StrEnum):
    """The names of toxiproxy, from the view of the end that opened the connection."""

    UPSTREAM = "upstream"  # to the broker: requests
    DOWNSTREAM = "downstream"  # back: responses

    @property
    def other(self) -> Direction:
        return Direction.DOWNSTREAM if self is Direction.UPSTREAM else Direction.UPSTREAM

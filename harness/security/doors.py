"""The ways into the listeners that this process knows, by their addresses.

A target registers the addresses of its cluster here; every connection to one of them then goes
this way, in any room. An address without an entry is a PLAINTEXT listener.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from functools import cached_property
from threading import Lock

from harness.security.contexts import new_context
from harness.security.errors import SecurityError
from harness.security.settings import SecuritySettings

Place = tuple[str, int]
"""Host and port."""


class Door:
    """The way in by some settings: what is made once for all connections."""

    def __init__(self, settings: SecuritySettings) -> None:
        self.settings = settings
        self.sasl_versions: dict[int, tuple[int, int]] | None = None
        """The API versions that the listener advertises; None before the first connection."""

    @cached_property
    def context(self) -> ssl.SSLContext | None:
        """For the TLS of a connection; None without TLS. Raises SecurityError."""
        tls = self.settings.tls
        return None if tls is None else new_context(tls, self.settings.file)


class _Doors:
    def __init__(self) -> None:
        self._doors: dict[Place, Door] = {}
        self._lock = Lock()

    def add(self, door: Door, places: Iterable[Place]) -> None:
        with self._lock:
            for host, port in places:
                before = self._doors.setdefault((host, port), door)
                if before.settings.file != door.settings.file:
                    raise SecurityError(
                        f"{host}:{port} is entered by {before.settings.file} already, and not by "
                        f"{door.settings.file} too"
                    )

    def remove(self, door: Door) -> None:
        with self._lock:
            self._doors = {at: one for at, one in self._doors.items() if one is not door}

    def at(self, place: Place) -> Door | None:
        return self._doors.get((place[0], place[1]))


_DOORS = _Doors()
open_door = _DOORS.add
"""Enter these places by this door. Raises SecurityError: one has another door."""
close_door = _DOORS.remove
"""Forget the door, and the places behind it."""
door_at = _DOORS.at
"""Return the door of an address; None for a PLAINTEXT listener."""

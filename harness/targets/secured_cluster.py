"""The way into the brokers of a secured cluster, for this process and for those that it starts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from harness.base.address import Address
from harness.security.doors import Door, close_door, open_door
from harness.security.errors import SecurityError
from harness.security.reading import read_settings
from harness.security.settings import SecurityProtocol
from harness.targets.errors import TargetError


class SecuredWay(NamedTuple):
    """The path of a client's properties file, the listeners that it opens, and their protocol.

    Processes hand this on, and never the settings: so no secret is in a command line or a result.
    """

    file: str
    places: tuple[Address, ...]
    protocol: SecurityProtocol


class SecuredCluster:
    """The listeners of one cluster, entered by the settings of one file."""

    def __init__(self, file: Path) -> None:
        """Raises TargetError: the file cannot be used; with file, line and setting."""
        try:
            self._door = Door(read_settings(file))
            _ = self._door.context
        except SecurityError as problem:
            raise TargetError(str(problem)) from problem
        self.file = file.absolute()
        self._places: dict[Address, None] = {}

    @property
    def way(self) -> SecuredWay:
        """For other processes, see :func:`enter_secured`."""
        return SecuredWay(str(self.file), tuple(self._places), self._door.settings.protocol)

    def open(self, places: Iterable[Address]) -> None:
        """Enter these listeners by the settings from now on. Raises TargetError."""
        more = list(places)
        try:
            open_door(self._door, more)
        except SecurityError as problem:
            raise TargetError(str(problem)) from problem
        self._places.update(dict.fromkeys(more))

    def close(self) -> None:
        """Forget the way; connections that are open stay. Twice is fine."""
        close_door(self._door)
        self._places.clear()


def enter_secured(way: SecuredWay | None) -> None:
    """Open the listeners of a cluster that another process has started to ask."""
    if way is not None:
        SecuredCluster(Path(way.file)).open(way.places)

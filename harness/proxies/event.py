"""The events of a proxy: every fault that was done, every rule that was armed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.proxies.direction import Direction


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a fault journal.

    ``what``: ``fired``, ``armed``, ``released``, ``cut``, ``healed``, ``toxic_added``, ...;
    ``link``: ``source->destination``; ``connection``: its ordinal on the link, from 0; ``frame``:
    the frame's ordinal in its direction of the connection, from 0. None: not about one. ``at_ms``:
    on the proxy's clock, which begins with 0.
    """

    at_ms: float
    what: str
    link: str | None = None
    connection: int | None = None
    direction: Direction | None = None
    frame: int | None = None
    rule: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that have a value."""
        return {name: value for name, value in asdict(self).items() if value not in (None, {})}


Listener = Callable[[Event], None]

"""A selection of the matching frames: the nth, the first n, every nth, a share of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.proxies.rules.errors import RuleError
from harness.proxies.rules.values import Read, choice, integer, number, one_or_more
from harness.proxies.seen import SeenConnection

_count = integer(1)
OCCURRENCE_WORDS: dict[str, Read[Any]] = {
    "nth": one_or_more(_count),
    "first": _count,
    "every": _count,
    "skip": _count,
    "probability": number(0, 1),
    "per": choice("way to count", ("all", "link", "connection")),
}
"""The keys of a rule that select among the frames that match it, with their readers."""

Scope = tuple[str, ...]


def _all(_place: SeenConnection) -> Scope:
    return ()


def _link(place: SeenConnection) -> Scope:
    return (place.link,)


def _connection(place: SeenConnection) -> Scope:
    return (place.link, str(place.connection))


SCOPES: dict[str, Callable[[SeenConnection], Scope]] = {
    "all": _all,
    "link": _link,
    "connection": _connection,
}
"""Ways to count: frames with an equal scope are counted together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrences:
    """All given conditions must hold. Counts begin with 1, behind the frames that are skipped."""

    nth: tuple[int, ...] = ()
    first: int | None = None
    every: int = 1
    skip: int = 0
    probability: float = 1.0
    per: str = "all"

    def takes(self, count: int, draw: Callable[[], float]) -> bool:
        """True if the ``count``-th match is taken."""
        place = count - self.skip
        return (
            place >= 1
            and (not self.nth or place in self.nth)
            and (self.first is None or place <= self.first)
            and place % self.every == 0
            and (self.probability >= 1 or draw() < self.probability)
        )


def read_occurrences(words: Mapping[str, Any]) -> Occurrences:
    """Read the keys of ``OCCURRENCE_WORDS`` that a rule has. Raises RuleError."""
    read = {}
    for name, value in words.items():
        try:
            read[name] = OCCURRENCE_WORDS[name](value)
        except RuleError as error:
            raise error.under(name) from None
    made = Occurrences(**read)
    if made.nth and made.first is not None and min(made.nth) > made.first:
        raise RuleError(f"never comes: only the first {made.first} are taken", "nth")
    return made


@dataclass(slots=True)
class Counter:
    """Counts by scope; the count of a closed connection is forgotten."""

    per: str
    _counts: dict[Scope, int] = field(default_factory=dict)

    def next(self, place: SeenConnection) -> int:
        """The number of this one, from 1."""
        scope = SCOPES[self.per](place)
        self._counts[scope] = count = self._counts.get(scope, 0) + 1
        return count

    def forget(self, place: SeenConnection) -> None:
        if self.per == "connection":
            self._counts.pop(_connection(place), None)

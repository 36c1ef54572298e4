"""Symbols of member ids, after the request with the answer that first contained the id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.differential.symbols import UNKNOWN, Bindings

MEMBER = "member_id"
NOBODY = str(UNKNOWN[MEMBER])
"""An id that no broker has given out."""


def member(number: int) -> str:
    """Return the symbol of the id that the answer to this request contained first."""
    return f"${MEMBER}:{number}"


UNNAMED = member(-1)
"""An id that stands somewhere before the answer that gives it out has come."""


@dataclass(slots=True)
class MemberNames(Bindings):
    """The ids of one broker, so that equal symbols mean the same member at both.

    ``given``: ids by the number of the request; all others are UNNAMED.
    """

    given: dict[int, str] = field(default_factory=dict)

    def gives(self, number: int, raw: str) -> None:
        """Note the id in the answer to this request; a known id keeps its symbol."""
        if raw and raw != NOBODY and raw not in self.given.values():
            self.given[number] = raw

    def symbol_of(self, kind: str, value: Any) -> str:
        """Not by order of appearance: answers that come together have no order."""
        if kind != MEMBER:
            return Bindings.symbol_of(self, kind, value)
        found = (number for number, raw in self.given.items() if raw == value)
        return member(next(found, -1))

    def value_of(self, kind: str, number: int) -> Any:
        """The id at this broker."""
        if kind != MEMBER:
            return Bindings.value_of(self, kind, number)
        return self.given.get(number, NOBODY)

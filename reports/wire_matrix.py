"""Wire coverage: API version x error code x what stood in the fields, as really seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

STATES: Final = ("default", "other", "null", "empty", "unknown_tag")
DIRECTIONS: Final = ("request", "response")


@dataclass(frozen=True)
class SeenError:
    """An error code in answers and how often."""

    code: int
    name: str
    count: int


@dataclass(frozen=True)
class SeenField:
    """A field (a path, dots between names), what stood in it (one of `STATES`), and how often."""

    field: str
    what: str
    count: int


@dataclass(frozen=True)
class SeenOnWire:
    """One API version in one direction on one target."""

    api_key: int
    api_name: str
    api_version: int
    target: str
    direction: str
    messages: int
    errors: tuple[SeenError, ...]
    fields: tuple[SeenField, ...]

    @property
    def states(self) -> dict[str, int]:
        """In how many fields each state was seen; states that were not seen are left out."""
        fields: dict[str, set[str]] = {}
        for seen in self.fields:
            fields.setdefault(seen.what, set()).add(seen.field)
        return {state: len(fields[state]) for state in STATES if state in fields}


def seen_on_the_wire(table: Iterable[Mapping[str, Any]]) -> tuple[SeenOnWire, ...]:
    """The rows of `wire.parquet`."""
    return tuple(
        SeenOnWire(
            **{
                **row,
                "errors": tuple(SeenError(**error) for error in row["errors"]),
                "fields": tuple(SeenField(**seen) for seen in row["fields"]),
            }
        )
        for row in table
    )

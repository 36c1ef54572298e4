"""Differences that are as they should be: `explained.toml`, each with its reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.codec.versions import VersionRange
from harness.conformance.toml_entry import TomlEntry, load_table
from harness.differential.conditions import CONDITIONS
from harness.differential.conversation import ConversationStep
from harness.differential.difference import Difference

EXPLAINED_FILE = Path(__file__).parent / "explained.toml"


class ExplainedError(ValueError):
    """The file of explained differences is wrong; the message says where."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A difference that is as it should be.

    Attributes:
        api: the API of the answers, ``*`` for all.
        field: pattern of the field; below it everything is explained too.
        reason: why both are right, with a class or KIP.
        versions: of the API.
        values: only this pair of values, on either side; None for any.
        between: the beginnings of the two target strings, in either order; None for any.
        when: a name of CONDITIONS that the conversation so far must fulfil; None for no condition.
        parts: the state that differs at both from here on, so that nothing more is compared; None:
            nothing.
    """

    api: str
    field: str
    reason: str
    versions: VersionRange
    values: tuple[Any, ...] | None
    between: tuple[str, ...] | None
    when: str | None = None
    parts: str | None = None

    def covers(
        self, found: Difference, steps: Sequence[ConversationStep], specs: Sequence[str]
    ) -> bool:
        """True if it explains this difference between these targets."""
        if not fnmatchcase(found.api, self.api) or found.version not in self.versions:
            return False
        if not (fnmatchcase(found.field, self.field) or found.field.startswith(f"{self.field}.")):
            return False
        if self.values is not None and list(found.values) not in _both_ways(self.values):
            return False
        if self.when is not None and not CONDITIONS[self.when](steps[: found.step + 1]):
            return False
        return self.between is None or any(
            all(spec.startswith(start) for spec, start in zip(specs, pair, strict=True))
            for pair in _both_ways(self.between)
        )


def _both_ways(pair: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    return list(pair), list(reversed(pair))


@lru_cache(maxsize=4)
def load_explained(path: Path = EXPLAINED_FILE) -> tuple[Explained, ...]:
    """Read and check the file. Raises ExplainedError."""
    table = load_table(path, ExplainedError)
    found = []
    for entry in table.optional_entries("explained"):
        values = entry.optional_text("values")
        found.append(
            Explained(
                api=entry.text("api"),
                field=entry.text("field"),
                reason=entry.text("reason"),
                versions=VersionRange.parse(entry.optional_text("versions") or "0+"),
                values=None if values is None else tuple(json.loads(values)),
                between=entry.optional_texts("between") or None,
                when=_condition(entry),
                parts=entry.optional_text("parts"),
            )
        )
        entry.finish()
    table.finish()
    return tuple(found)


def _condition(entry: TomlEntry) -> str | None:
    name = entry.optional_text("when")
    if name is not None and name not in CONDITIONS:
        raise ExplainedError(f"{entry.where}: when: {name!r} is no name of CONDITIONS")
    return name


@dataclass(frozen=True, slots=True)
class JudgedDifference:
    """``found``: the first difference without an entry. ``compared``: number of compared steps."""

    found: Difference | None
    compared: int


def judged(
    differences: Iterable[Difference],
    explained: Sequence[Explained],
    steps: Sequence[ConversationStep],
    specs: Sequence[str],
    count: Counter[str],
) -> JudgedDifference:
    """Judge differences up to the first that no entry covers; count the reasons before it."""
    for one in differences:
        entry = next((entry for entry in explained if entry.covers(one, steps, specs)), None)
        if entry is None:
            return JudgedDifference(one, len(steps))
        count[entry.reason] += 1
        if entry.parts is not None:
            return JudgedDifference(None, one.step + 1)
    return JudgedDifference(None, len(steps))

"""Differences of two answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.differential.conversation import ConversationStep
from harness.differential.player import HOW, PlayedAnswer

MISSING = "nothing"
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Difference:
    """``path``: of the field in the answers; ``values``: its values on both sides."""

    step: int
    api: str
    version: int
    path: str
    values: tuple[Any, Any]

    @property
    def field(self) -> str:
        """The path without the positions in lists."""
        return _INDEX.sub("", self.path)

    @property
    def kind(self) -> tuple[str, str]:
        """The kind; all differences of one kind count as one."""
        return self.api, self.field


def differences(
    steps: Sequence[ConversationStep], one: Sequence[PlayedAnswer], other: Sequence[PlayedAnswer]
) -> Iterator[Difference]:
    """Return every field that differs, in the order of the conversation."""
    for place, step in enumerate(steps):
        pair = (one[place].compared, other[place].compared)
        if pair[0][HOW] != pair[1][HOW]:
            pair = ({HOW: pair[0][HOW]}, {HOW: pair[1][HOW]})
        for path, values in _walk(*pair, ""):
            yield Difference(place, step.api, step.version, path, values)


def _walk(one: Any, other: Any, path: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            inner = f"{path}.{key}" if path else key
            yield from _walk(one.get(key, MISSING), other.get(key, MISSING), inner)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _walk(left, right, f"{path}[{place}]")
    elif type(one) is not type(other) or one != other:
        yield path, (one, other)

"""Conversations with a broker as plain values, which can be written to a file and played.

The fields of a step are the dictionary form of its request, with symbols in place of values that
are known only during a play (:mod:`harness.differential.symbols`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.codec.apis import APIS

Fields = Mapping[str, Any]
_FORMAT = 1


class ConversationError(ValueError):
    """A file that holds no conversation; the message says where and what."""


@dataclass(frozen=True, slots=True)
class ConversationStep:
    """One request: an API by name, a version, its fields."""

    api: str
    version: int
    fields: Fields

    def __str__(self) -> str:
        return f"{self.api} v{self.version} {json.dumps(self.fields)}"


@dataclass(frozen=True, slots=True)
class Conversation:
    """Steps on one connection, in order; ``origin`` says which seed made it, or which file."""

    origin: str
    steps: tuple[ConversationStep, ...]

    def with_steps(self, steps: Sequence[ConversationStep]) -> Conversation:
        """The same with other steps."""
        return Conversation(self.origin, tuple(steps))


def to_json(conversation: Conversation) -> str:
    """Text for a file, a step a line."""
    steps = [
        json.dumps({"api": step.api, "version": step.version, "fields": step.fields})
        for step in conversation.steps
    ]
    head = f'{{"format": {_FORMAT}, "origin": {json.dumps(conversation.origin)}, "steps": ['
    return head + "\n  " + ",\n  ".join(steps) + "\n]}\n"


def from_json(text: str) -> Conversation:
    """Return the conversation in the form of :func:`to_json`. Raises ConversationError."""
    try:
        whole = json.loads(text)
    except ValueError as problem:
        raise ConversationError(f"no JSON: {problem}") from problem
    if not isinstance(whole, dict) or whole.get("format") != _FORMAT:
        raise ConversationError(f'an object with "format": {_FORMAT} is expected')
    steps = whole.get("steps")
    if not isinstance(steps, list) or not steps:
        raise ConversationError('"steps": a list with at least one step is expected')
    made = tuple(_step(one, f"steps[{place}]") for place, one in enumerate(steps))
    return Conversation(str(whole.get("origin", "a file")), made)


def _step(value: Any, where: str) -> ConversationStep:
    if not isinstance(value, dict) or set(value) != {"api", "version", "fields"}:
        raise ConversationError(f'{where}: an object with "api", "version", "fields" is expected')
    versions = {api.name: api.valid_versions for api in APIS.values()}
    if value["api"] not in versions:
        raise ConversationError(f"{where}.api: {value['api']!r} is no API")
    if value["version"] not in versions[value["api"]]:
        raise ConversationError(f"{where}.version: {value['version']!r} is no version of it")
    if not isinstance(value["fields"], dict):
        raise ConversationError(f"{where}.fields: an object is expected")
    return ConversationStep(value["api"], value["version"], value["fields"])

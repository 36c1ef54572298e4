"""Exceptions that end a play before its last step, and the text of a difference."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.differential.conversation import ConversationStep


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """The state that one broker shows.

    It has the new answers by request, the group, and all that the coordinator has written of the
    group.
    """

    answers: Mapping[int, Any]
    described: Any
    kept: Any


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request of the play; ``actor``: the client that sent it, -1 for the test itself."""

    number: int
    actor: int
    step: ConversationStep

    def __str__(self) -> str:
        who = f"actor {self.actor}" if self.actor >= 0 else "we"
        return f"{self.number:>3}  {who}: {self.step}"


class GroupsDiffer(AssertionError):
    """The brokers differ, or one of them breaks an invariant of groups."""


class LeaderIsFree(Exception):
    """The old leader is gone and each broker has chosen another one, as both may."""


class Stalled(Exception):
    """The machine was so slow that time ran out at one broker and not at the other."""


class ProtocolIsFree(Exception):
    """Two protocols have equally many votes of members."""


def difference(
    specs: tuple[str, str], seen: tuple[SeenAnswer, SeenAnswer], story: list[str]
) -> GroupsDiffer:
    """Return the exception with the story and the values of each broker that differ in the end."""
    lines = [*story, "they differ:"]
    numbers = sorted({*seen[0].answers, *seen[1].answers})
    for number in numbers:
        values = [one.answers.get(number, "waits") for one in seen]
        lines += _told(f"answer to {number}", specs, values)
    lines += _told("group", specs, [one.described for one in seen])
    lines += _told("kept", specs, [one.kept for one in seen])
    return GroupsDiffer("\n".join(lines))


def _told(what: str, specs: tuple[str, str], values: list[Any]) -> Iterator[str]:
    if values[0] != values[1]:
        for spec, value in zip(specs, values, strict=True):
            yield f"  {what}, {spec}: {json.dumps(value)}"

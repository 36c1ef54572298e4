"""How a play ends before its last step, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.differential.conversation import Step


@dataclass(frozen=True, slots=True)
class Seen:
    """What one broker shows: answers that are new, by request, the group, and all that the
    coordinator has written of it."""

    answers: Mapping[int, Any]
    described: Any
    kept: Any


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the play; ``actor`` is whose it is, -1: nobody's."""

    number: int
    actor: int
    step: Step

    def __str__(self) -> str:
        who = f"actor {self.actor}" if self.actor >= 0 else "we"
        return f"{self.number:>3}  {who}: {self.step}"


class GroupsDiffer(AssertionError):
    """The brokers do not agree, or one of them breaks what every group keeps."""


class LeaderIsFree(Exception):
    """The old leader is gone and each broker has chosen another one, as each may."""


class Stalled(Exception):
    """This machine was so slow that time ran out at one broker and not at the other."""


class ProtocolIsFree(Exception):
    """As many members want one protocol first as want another."""


def difference(specs: tuple[str, str], seen: tuple[Seen, Seen], story: list[str]) -> GroupsDiffer:
    """All that was done, and what each broker shows in the end."""
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

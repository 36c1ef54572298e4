"""A history: every operation of every process, in the order in which they were seen.

An operation begins with ``invoke`` and ends with ``ok`` (surely done), ``fail`` (surely not done)
or ``info`` (nobody knows: it may have been done, or may still be). One that never ends is unknown
too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


class Outcome(StrEnum):
    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    INFO = "info"


class Action(StrEnum):
    """What an operation is about.

    ``send``: one record, by its value, which no other record of the history has. ``poll``: one
    record as a consumer was given it. ``end``: where a consumer was told that a partition ends.
    ``finish``: a process has done all it had to do. ``final_read``: one record as it stands in the
    log when all is over, read by somebody who met no fault. ``fault``: what was done to them.
    """

    SEND = "send"
    POLL = "poll"
    END = "end"
    FINISH = "finish"
    FINAL_READ = "final_read"
    FAULT = "fault"


class BadHistory(ValueError):
    """Text that is no history: which line, and why."""


@dataclass(frozen=True, slots=True)
class Operation:
    """``at_ms``: since the history began. ``partition`` and ``offset`` are -1 where nobody said.

    ``value``: the record's; of ``info`` and ``fault`` what happened, in words, is in ``detail``.
    """

    process: str
    outcome: Outcome
    action: Action
    partition: int = -1
    offset: int = -1
    value: str = ""
    detail: str = ""
    at_ms: float = 0.0

    def to_json(self) -> str:
        """One line, without the fields that say nothing."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The fields that say something, as plain JSON has them."""
        fields = {name: value for name, value in asdict(self).items() if value not in ("", -1)}
        return {**fields, "outcome": self.outcome.value, "action": self.action.value}

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Raises BadHistory."""
        try:
            fields: dict[str, Any] = json.loads(text)
            made = cls(**fields)
            outcome, action = Outcome(made.outcome), Action(made.action)
        except (ValueError, TypeError) as problem:
            raise BadHistory(f"no operation: {text[:200]!r}: {problem}") from problem
        return cls(**{**fields, "outcome": outcome, "action": action})

    def __str__(self) -> str:
        place = "" if self.partition < 0 else f" [{self.partition}]"
        offset = "" if self.offset < 0 else f" @{self.offset}"
        said = " ".join(word for word in (self.value, self.detail) if word)
        return (
            f"{self.at_ms:.0f} ms {self.process} {self.outcome} {self.action}{place}{offset} {said}"
        )


def to_lines(history: Iterable[Operation]) -> str:
    """As a file holds it: one JSON object a line."""
    return "".join(f"{operation.to_json()}\n" for operation in history)


def from_lines(lines: Iterable[str]) -> Iterator[Operation]:
    """The other way round. Raises BadHistory."""
    for number, line in enumerate(lines, start=1):
        try:
            yield Operation.from_json(line)
        except BadHistory as problem:
            raise BadHistory(f"line {number}: {problem}") from problem

"""A history: every operation of every process, in the order of observation.

An operation begins with ``invoke`` and ends with ``ok`` (surely done), ``fail`` (surely not done)
or ``info`` (unknown: it may have been done, or may still be). An operation that never ends is
unknown too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


class OperationOutcome(StrEnum):
    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    INFO = "info"


class ClientAction(StrEnum):
    """The kind of an operation.

    ``send``: one record, by its value, which no other record of the history has. ``poll``: one
    record that a consumer received. ``end``: the end of a partition that a consumer read.
    ``finish``: a process has completed its work. ``final_read``: one record of the log at the end
    of the test, read by a process without faults. ``fault``: a fault that the nemesis applied.

    Of transactions: ``begin`` opens one, by its name, and the process's further sends are in it.
    ``consume``: it has read a record of an input partition. ``send_offsets``: it commits the offset
    from which it would go on to read its input. ``commit`` and ``abort`` end it. ``read_offsets``:
    the offset that is committed for an input partition, as a process reads it.
    """

    SEND = "send"
    POLL = "poll"
    END = "end"
    FINISH = "finish"
    FINAL_READ = "final_read"
    FAULT = "fault"
    BEGIN = "begin"
    CONSUME = "consume"
    SEND_OFFSETS = "send_offsets"
    COMMIT = "commit"
    ABORT = "abort"
    READ_OFFSETS = "read_offsets"


class BadHistory(ValueError):
    """Text that is no history; the message names the line and the reason."""


@dataclass(frozen=True, slots=True)
class ClientOperation:
    """One operation, ``at_ms`` after the history began.

    ``partition`` and ``offset`` are -1 when unknown. ``value``: the record's. ``detail``: for
    ``info`` and ``fault`` the event, in words.
    """

    process: str
    outcome: OperationOutcome
    action: ClientAction
    partition: int = -1
    offset: int = -1
    value: str = ""
    detail: str = ""
    at_ms: float = 0.0

    def to_json(self) -> str:
        """Return one line of JSON without empty fields."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not empty, as plain JSON values."""
        fields = {name: value for name, value in asdict(self).items() if value not in ("", -1)}
        return {**fields, "outcome": self.outcome.value, "action": self.action.value}

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Raises BadHistory."""
        try:
            fields: dict[str, Any] = json.loads(text)
            made = cls(**fields)
            outcome, action = OperationOutcome(made.outcome), ClientAction(made.action)
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


def to_lines(history: Iterable[ClientOperation]) -> str:
    """Return the text of a file: one JSON object per line."""
    return "".join(f"{operation.to_json()}\n" for operation in history)


def from_lines(lines: Iterable[str]) -> Iterator[ClientOperation]:
    """Yield the operations of such lines. Raises BadHistory."""
    for number, line in enumerate(lines, start=1):
        try:
            yield ClientOperation.from_json(line)
        except BadHistory as problem:
            raise BadHistory(f"line {number}: {problem}") from problem

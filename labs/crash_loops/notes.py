"""The history of one round, written by several threads."""

from __future__ import annotations

import time
from functools import partial

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome

NEMESIS, READER, CONSUMER = "nemesis", "reader", "consumer"
FILL = b"."
VALUE_BYTES = 2000  # so that a log has some segments
STRANGE = "?"


def payload(value: str) -> bytes:
    """The bytes of a record."""
    return value.encode().ljust(VALUE_BYTES, FILL)


def value_of(data: bytes | None) -> str:
    """Return the value in a record's bytes; the text of other bytes begins with ``STRANGE``."""
    found = (data or b"").rstrip(FILL)
    text = found.decode("utf-8", "replace")
    is_ours = bool(found) and FILL not in found and payload(text) == data
    return text if is_ours else f"{STRANGE}{text[:40]}"


class CrashNotes:
    """The recorded operations; ``history`` is in the order of observation."""

    def __init__(self) -> None:
        self.history: list[ClientOperation] = []
        self._began_s = time.monotonic()

    def _add(
        self, process: str, outcome: OperationOutcome, action: ClientAction, **told: object
    ) -> None:
        at_ms = round((time.monotonic() - self._began_s) * 1000, 1)
        made = partial(ClientOperation, process, outcome, action, at_ms=at_ms)
        self.history.append(made(**told))  # type: ignore[arg-type]  # the caller's names are fields

    def sends(self, process: str, value: str, partition: int) -> None:
        self._add(
            process, OperationOutcome.INVOKE, ClientAction.SEND, value=value, partition=partition
        )

    def ended(
        self,
        process: str,
        outcome: OperationOutcome,
        value: str,
        partition: int,
        offset: int = -1,
        detail: str = "",
    ) -> None:
        self._add(
            process,
            outcome,
            ClientAction.SEND,
            value=value,
            partition=partition,
            offset=offset,
            detail=detail,
        )

    def polled(self, partition: int, offset: int, value: str) -> None:
        self._add(
            CONSUMER,
            OperationOutcome.OK,
            ClientAction.POLL,
            partition=partition,
            offset=offset,
            value=value,
        )

    def stored(self, partition: int, offset: int, value: str) -> None:
        self._add(
            READER,
            OperationOutcome.OK,
            ClientAction.FINAL_READ,
            partition=partition,
            offset=offset,
            value=value,
        )

    def fault(self, what: str) -> None:
        self._add(NEMESIS, OperationOutcome.INFO, ClientAction.FAULT, detail=what)

    def acknowledged(self, process: str) -> int:
        """Return the number of acknowledged records so far."""
        ok = OperationOutcome.OK
        return sum(o.process == process and o.outcome is ok for o in list(self.history))

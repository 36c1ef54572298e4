"""Inside a client's process: the history is written to standard output, orders are read from input.

The process writes ``ready``, reads ``go``, and later ``healed``; it exits at the end of its input.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from labs.clients_under_faults.job import CONSUMER, PRODUCER, Job

READY, GO, HEALED = "ready", "go", "healed"
LEFT_ALONE = 3
MOST_TROUBLES = 20  # of one text: a client may say the same at every poll
BACKOFF_S = 0.05


class ClientNotes:
    """Notes the outcome of each record of a job. Thread-safe."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._troubles: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._told = {GO: threading.Event(), HEALED: threading.Event()}
        self._produced = threading.Event()
        self._began_s = time.monotonic()
        threading.Thread(target=self._listen, name="orders", daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            self._told[line.strip()].set()
        os._exit(LEFT_ALONE)  # the parent process is gone

    def begin(self) -> None:
        """Report that all is loaded, and wait for the start."""
        print(READY, flush=True)
        self._told[GO].wait()
        self._began_s = time.monotonic()

    @property
    def may_end(self) -> bool:
        """True if all faults are over and all sends have ended: the log grows no more."""
        return self._told[HEALED].is_set() and self._produced.is_set()

    def seconds_until(self, number: int) -> float:
        """The time until this record is due."""
        due_s = number * self._job.span_ms / self._job.records / 1000
        return max(0.0, self._began_s + due_s - time.monotonic())

    # -- the producer ------------------------------------------------------------------------------

    def sending(self, name: str, partition: int) -> None:
        self._note(PRODUCER, OperationOutcome.INVOKE, ClientAction.SEND, partition, value=name)

    def acknowledged(self, name: str, partition: int, offset: int | None) -> None:
        where = -1 if offset is None else offset
        self._note(PRODUCER, OperationOutcome.OK, ClientAction.SEND, partition, where, name)

    def not_sent(self, name: str, partition: int, why: object) -> None:
        """Note a record that the client refused: it never was in its buffers."""
        self._note(
            PRODUCER,
            OperationOutcome.FAIL,
            ClientAction.SEND,
            partition,
            value=name,
            detail=text(why),
        )

    def given_up(self, name: str, partition: int, why: object) -> None:
        """Note a record without acknowledgement, which may have been written."""
        self._note(
            PRODUCER,
            OperationOutcome.INFO,
            ClientAction.SEND,
            partition,
            value=name,
            detail=text(why),
        )

    def produced(self) -> None:
        """Note the producer's end: no send is under way."""
        self._note(PRODUCER, OperationOutcome.OK, ClientAction.FINISH)
        self._produced.set()

    # -- the consumer ------------------------------------------------------------------------------

    def polled(self, partition: int, offset: int, payload: bytes | None) -> None:
        name = self._job.name_of(payload)
        self._note(CONSUMER, OperationOutcome.OK, ClientAction.POLL, partition, offset, name)

    def ends(self, partition: int, offset: int) -> None:
        self._note(CONSUMER, OperationOutcome.OK, ClientAction.END, partition, offset)

    def consumed(self) -> None:
        """Note the consumer's end: it has read everything."""
        self._note(CONSUMER, OperationOutcome.OK, ClientAction.FINISH)

    def trouble(self, process: str, what: object) -> None:
        """Note an error that concerns no single record; the client goes on."""
        said = text(what)
        self._troubles[said] += 1
        if self._troubles[said] <= MOST_TROUBLES:
            self._note(process, OperationOutcome.INFO, ClientAction.POLL, detail=said)

    def _note(
        self,
        process: str,
        outcome: OperationOutcome,
        action: ClientAction,
        partition: int = -1,
        offset: int = -1,
        value: str = "",
        detail: str = "",
    ) -> None:
        at_ms = round((time.monotonic() - self._began_s) * 1000, 1)
        made = ClientOperation(process, outcome, action, partition, offset, value, detail, at_ms)
        with self._lock:
            print(made.to_json(), flush=True)


def text(what: object) -> str:
    """Of an error, with its type."""
    said = str(what)
    name = type(what).__name__ if isinstance(what, BaseException) else ""
    return (said if name in said else f"{name}: {said}")[:300]

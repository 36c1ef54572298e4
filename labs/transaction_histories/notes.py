"""The history of a run, written by several threads in the order of observation."""

from __future__ import annotations

import threading
import time

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome

NEMESIS, READER = "nemesis", "reader"


class TransactionNotes:
    """The operations that the clients have noted; thread-safe."""

    def __init__(self) -> None:
        self.history: list[ClientOperation] = []
        self._began_s = time.monotonic()
        self._lock = threading.Lock()

    def add(
        self,
        process: str,
        outcome: OperationOutcome,
        action: ClientAction,
        partition: int = -1,
        offset: int = -1,
        value: str = "",
        detail: str = "",
    ) -> None:
        """Note one operation at the present time."""
        with self._lock:
            at_ms = round((time.monotonic() - self._began_s) * 1000, 1)
            self.history.append(
                ClientOperation(process, outcome, action, partition, offset, value, detail, at_ms)
            )

    def fault(self, what: str) -> None:
        """Note a fault, or its end."""
        self.add(NEMESIS, OperationOutcome.INFO, ClientAction.FAULT, detail=what)

    def stuck(self, process: str, why: str) -> None:
        """Note a process that does not go on, though all faults are healed."""
        self.add(process, OperationOutcome.INFO, ClientAction.FINISH, detail=why)

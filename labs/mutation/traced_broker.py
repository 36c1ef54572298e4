"""``python -m labs.mutation.traced_broker FOLDER OPTION...``: a broker that records its lines.

Every ``PERIOD_S``, at SIGUSR1 and at its end it appends the lines executed since then to
``FOLDER/PID-START``. SIGUSR1 also appends an empty line and forgets what was executed: the lines
behind it belong to the next test. The kill of a broker loses the lines of the last period.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import psutil

import harness.reference_broker
from harness.reference_broker.command import broker
from labs.mutation.line_map import file_of

PERIOD_S = 0.25
ROOT = f"{Path(harness.reference_broker.__file__).parent}{os.sep}"


class LineRecorder:
    """The executed lines of this process, as ``path:line`` below the broker's package."""

    def __init__(self, file: Path) -> None:
        self._out = file.open("a", buffering=1)
        self._executed: dict[CodeType, set[int]] = {}
        self._written: set[tuple[CodeType, int]] = set()
        self._is_writing = self._is_test_due = False

    def start(self) -> None:
        """Record from now on, in this thread and those that it starts."""
        signal.signal(signal.SIGALRM, lambda *_: self._on_signal(is_test=False))
        signal.signal(signal.SIGUSR1, lambda *_: self._on_signal(is_test=True))
        signal.setitimer(signal.ITIMER_REAL, PERIOD_S, PERIOD_S)
        atexit.register(self.write)
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def _on_signal(self, *, is_test: bool) -> None:
        """Write now, or when the write that this signal interrupts has ended."""
        self._is_test_due |= is_test
        if self._is_writing:
            return
        self._is_writing = True
        try:
            self.write()
            while self._is_test_due:
                self._is_test_due = False
                self.next_test()
        finally:
            self._is_writing = False

    def write(self) -> None:
        """Append the lines that are not written yet."""
        for code, lines in list(self._executed.items()):
            place = code.co_filename.removeprefix(ROOT)
            for line in list(lines):
                if (code, line) not in self._written:
                    self._written.add((code, line))
                    self._out.write(f"{place}:{line}\n")

    def next_test(self) -> None:
        """End the lines of the present test."""
        self.write()
        self._executed.clear()
        self._written.clear()
        self._out.write("\n")

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(ROOT):
            return None
        lines = self._executed.setdefault(code, set())
        lines.add(frame.f_lineno)

        def trace(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                self._executed.setdefault(code, set()).add(frame.f_lineno)
            return trace

        return trace


def main() -> None:
    """Run the broker."""
    folder, *options = sys.argv[1:]
    LineRecorder(Path(folder) / file_of(psutil.Process())).start()
    broker(options, prog_name="traced")


if __name__ == "__main__":
    main()

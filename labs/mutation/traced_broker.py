"""``python -m labs.mutation.traced_broker FOLDER OPTION...``: a broker that records its lines.

It appends each line that it executes to ``FOLDER/PID-START``, the first time in each test and
before the line has an effect, so that no kill loses one. SIGUSR1 begins the next test: the broker
appends an empty line, and records each line anew.
"""

from __future__ import annotations

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

ROOT = f"{Path(harness.reference_broker.__file__).parent}{os.sep}"


class LineRecorder:
    """The executed lines of this process, as ``path:line`` below the broker's package."""

    def __init__(self, file: Path) -> None:
        self._out = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._executed: set[tuple[CodeType, int]] = set()

    def start(self) -> None:
        """Record from now on, in this thread and those that it starts."""
        signal.signal(signal.SIGUSR1, lambda *_: self.next_test())
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def next_test(self) -> None:
        """End the lines of the present test."""
        self._executed.clear()
        os.write(self._out, b"\n")

    def _note(self, code: CodeType, line: int) -> None:
        if (code, line) not in self._executed:
            self._executed.add((code, line))
            place = code.co_filename.removeprefix(ROOT)
            os.write(self._out, f"{place}:{line}\n".encode())

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(ROOT):
            return None
        self._note(code, frame.f_lineno)

        def trace(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                self._note(code, frame.f_lineno)
            return trace

        return trace


def main() -> None:
    """Run the broker."""
    folder, *options = sys.argv[1:]
    LineRecorder(Path(folder) / file_of(psutil.Process())).start()
    broker(options, prog_name="traced")


if __name__ == "__main__":
    main()

"""Every event as a line of JSON in a file."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from harness.proxies.event import Event

GIB = 1 << 30


class ProxyJournal:
    """A listener for events; each is in the file at once. Raises OSError: there can be no such.

    At ``limit_bytes``, or when the file fails, it ends: ``problem`` says why then.
    """

    def __init__(self, file: Path, limit_bytes: int = GIB) -> None:
        self.file, self.problem = file, ""
        self._out = file.open("wb", buffering=0)
        self._limit_bytes, self._written_bytes = limit_bytes, 0

    def __call__(self, event: Event) -> None:
        if self.problem or self._out.closed:
            return
        line = json.dumps(event.to_json(), default=str).encode() + b"\n"
        self._written_bytes += len(line)
        if self._written_bytes > self._limit_bytes:
            self.problem = f"it would grow above {self._limit_bytes} bytes"
            return
        try:
            self._out.write(line)
        except OSError as error:
            self.problem = error.strerror or str(error)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._out.close()

"""A temporary folder that goes when we go, however that comes about."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from harness.targets.process import ChildProcess

IDLE = ("/bin/sh", "-c", "while :; do kill -STOP $$; done")
"""Needs no program but the shell, no memory to speak of, and no time."""


class ScratchFolder:
    """A folder that outlives the processes that use it, but not us.

    A process that ends by itself must leave its data for the next start, so its own warden cannot
    be the one to remove the folder: a warden of an idle process is.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="kafka-conformance-data-"))
        try:
            self._keeper = ChildProcess(IDLE, Path(os.devnull), remove=self.path)
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Remove it with all that is in it. Twice is fine."""
        self._keeper.kill()
        shutil.rmtree(self.path, ignore_errors=True)

"""A data folder that goes when we go, however that comes about, or stays where that is wanted."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.base.operating_system import HAS_FORK
from harness.targets.process import warden_command

PREFIX = "kafka-conformance-data-"
REMOVE_TIMEOUT_S = 30


class ScratchFolder:
    """A folder that outlives the processes that use it, but not us.

    A process that ends by itself must leave its data for the next start, so its own warden cannot
    remove the folder: a keeper (:mod:`harness.targets.warden`) does. The keeper waits for the end
    of each :class:`harness.targets.process.ChildProcess` that gets ``hold_fd``.

    With ``keep_in`` it is made there instead of in the system's temporary folder, and stays.
    """

    def __init__(self, keep_in: Path | None = None) -> None:
        self.hold_fd: int | None = None
        """For each process that writes into the folder.

        None where the folder stays anyway, or where processes inherit no descriptors.
        """
        self._keeper: subprocess.Popen[bytes] | None = None
        if keep_in is not None:
            keep_in.mkdir(parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=keep_in))
        if keep_in is None:
            self._keeper = self._start_keeper()
            assert self._keeper.stdin is not None
            self.hold_fd = self._keeper.stdin.fileno() if HAS_FORK else None

    def _start_keeper(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [*warden_command(), "--remove", str(self.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Remove it with all that is in it, unless it is kept. Twice is fine.

        The processes that use it have to be ended before.
        """
        keeper, self._keeper, self.hold_fd = self._keeper, None, None
        if keeper is None:
            return
        assert keeper.stdin is not None
        keeper.stdin.close()
        try:
            keeper.wait(REMOVE_TIMEOUT_S)
        except subprocess.TimeoutExpired:  # another process holds its pipe
            keeper.kill()
            keeper.wait()
        shutil.rmtree(self.path, ignore_errors=True)

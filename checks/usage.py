"""``python usage.py FILE SHARE COMMAND ...``: run it and write its processor seconds into FILE.

The kernel divides the processors between sessions; SHARE is the nice value of this session, 0 for
a full share, 1 to 19 for less. The seconds count the command and all descendants that have ended.
SIGTERM reaches the command as SIGINT, at which Python programs, pytest among them, end in good
order. Only the standard library.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36
AUTOGROUP = "/proc/self/autogroup"


def main() -> int:
    """The exit code of the command; 128 + n after signal n."""
    file, share, *words = sys.argv[1:]
    _leave_others_more(share)
    _adopt_orphans()
    child = subprocess.Popen(words)
    signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGINT))
    code = _wait_for(child.pid)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(file, "w", encoding="utf-8") as out:  # noqa: PTH123 - pathlib starts slower
        out.write(str(used.ru_utime + used.ru_stime))
    return code if code >= 0 else 128 - code


def _leave_others_more(share: str) -> None:
    """Give the session its nice value, on kernels with groups of sessions (Linux, autogroup)."""
    with contextlib.suppress(OSError), open(AUTOGROUP, "w", encoding="ascii") as out:  # noqa: PTH123
        out.write(share)


def _adopt_orphans() -> None:
    """Become the parent of descendants that lose theirs, so that their time counts too (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for(pid: int) -> int:
    """The exit code of the child; orphans that have ended are waited for too."""
    ended, status = os.wait()
    while ended != pid:
        ended, status = os.wait()
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())

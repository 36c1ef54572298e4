"""``python usage.py FILE COMMAND ...``: run a command and write the processor seconds into FILE.

They count the command and all descendants that were waited for. SIGTERM reaches the command as
SIGINT, at which Python programs, pytest among them, end in good order. Only the standard library.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys


def main() -> int:
    """The exit code of the command; 128 + n after signal n."""
    file, *words = sys.argv[1:]
    with subprocess.Popen(words) as child:
        signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGINT))
        code = child.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(file, "w", encoding="utf-8") as out:  # noqa: PTH123 - pathlib starts slower
        out.write(str(used.ru_utime + used.ru_stime))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())

"""The warden of systems without fork and process groups (Windows), with the same promise.

``python -m harness.targets.warden_without_fork [--remove DIR] [--log FILE -- COMMAND ...]``

The warden starts COMMAND, appends its output to FILE, and prints ``pid 123`` or ``error REASON``.
Then it waits for whatever comes first: the end of file on standard input, of which the parent holds
the other end, or the end of COMMAND. It kills COMMAND, deletes the folder given with ``--remove``,
and exits with COMMAND's exit status (128 + n after signal n).

``--remove DIR`` alone is a keeper of a folder: it deletes DIR after the end of file.

Differences from :mod:`harness.targets.warden`: processes that COMMAND has started are not killed,
nothing ends COMMAND when the warden itself is killed, and a keeper does not know what still writes
into its folder: it tries for some seconds.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

USAGE = "usage: warden_without_fork [--remove DIR] [--log FILE -- COMMAND [ARGUMENT ...]]"
EXIT_USAGE = 2
EXIT_NOT_STARTED = 127
REMOVE_LIMIT_S = 5.0
REMOVE_PAUSE_S = 0.05


def main(argv: Sequence[str]) -> int:
    """Run the command of ``argv`` under guard; returns the exit status for the warden."""
    words, options = list(argv), dict[str, str]()
    while len(words) > 1 and words[0] in ("--remove", "--log"):
        options[words[0]] = words[1]
        del words[:2]
    command = words[1:] if words[:1] == ["--"] else []
    if bool(words) != bool(command) or bool(command) != ("--log" in options) or not options:
        sys.stderr.write(f"warden: bad command line\n{USAGE}\n")
        return EXIT_USAGE
    if command:
        code = _guarded(command, options["--log"])
    else:
        code = 0
        _wait_for_end_of_file()
    if "--remove" in options:
        _remove(options["--remove"])
    return code


def _guarded(command: Sequence[str], log: str) -> int:
    with open(log, "ab") as output:  # noqa: PTH123 - pathlib is slow to import
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        except OSError as problem:
            _report(f"error {problem.strerror}: {command[0]}")
            return EXIT_NOT_STARTED
    _report(f"pid {child.pid}")
    threading.Thread(target=_kill_at_end_of_file, args=(child,), daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code


def _report(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _kill_at_end_of_file(child: "subprocess.Popen[bytes]") -> None:
    _wait_for_end_of_file()
    child.kill()


def _wait_for_end_of_file() -> None:
    while os.read(0, 4096):
        pass


def _remove(folder: str) -> None:
    """Files that a dying process still has open cannot be deleted yet."""
    end = time.monotonic() + REMOVE_LIMIT_S
    while os.path.exists(folder) and time.monotonic() < end:  # noqa: PTH110
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(REMOVE_PAUSE_S)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # the thread may still wait for the end of file

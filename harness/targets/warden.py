"""A small process that stands between us and a broker, so that no broker outlives us.

``python -m harness.targets.warden [--report-fd N] [--hold-fd N] [--remove DIR] -- COMMAND ...``

The warden starts COMMAND in a session of its own and then waits for whatever comes first:

- end of file on standard input, of which the parent holds the other end: the parent is gone,
  however it died (the kernel closes its pipes even after SIGKILL);
- another parent id: a forked sibling may have kept the pipe open although the parent is gone;
- SIGTERM, SIGINT or SIGHUP to the warden;
- the end of COMMAND itself.

In each case the whole process group of COMMAND gets SIGKILL, the folder given with ``--remove``
is deleted, and the warden exits with COMMAND's exit status (128 + n after signal n). Should the
warden itself be killed with SIGKILL, Linux ends COMMAND through its parent-death signal.

``--report-fd N``: one line is written to that descriptor, ``pid 123`` or ``error REASON``.
``--hold-fd N``: that descriptor stays open until the warden ends, and COMMAND does not get it.

``--remove DIR`` alone, without a COMMAND, is a keeper of a folder: it waits for the end of file on
standard input and deletes the folder. Wardens that hold the other end too (``--hold-fd``) delay
that until what they guard is gone, so nothing is written any more when the folder is deleted.

Only the standard library, and as little of it as possible: this has to start in milliseconds.
"""

import errno
import os
import select
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

USAGE = "usage: warden [--report-fd N] [--hold-fd N] [--remove DIR] [-- COMMAND [ARGUMENT ...]]"
OPTIONS = ("--report-fd", "--hold-fd", "--remove")
EXIT_USAGE = 2
EXIT_NOT_STARTED = 127
PARENT_CHECK_S = 1.0
ORPHAN_CHECKS = 30  # without a parent, a keeper checks so often for processes that hold its pipe
REMOVE_LIMIT_S = 5.0
REMOVE_PAUSE_S = 0.02
PR_SET_PDEATHSIG = 1
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Arguments:
    """The command line: report_fd (None: no report), remove (None: nothing).

    ``command`` is empty for a keeper.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        """Raises ValueError (OSError: no such descriptor) when it is not as in USAGE."""
        words = list(argv)
        self.report_fd: int | None = None
        self.remove: str | None = None
        while words and words[0] != "--":
            option = words.pop(0)
            if option not in OPTIONS or not words or words[0] == "--":
                raise ValueError(option)
            value = words.pop(0)
            if option == "--remove":
                self.remove = value
                continue
            os.set_inheritable(int(value), False)  # ours, not the command's
            if option == "--report-fd":
                self.report_fd = int(value)
        self.command = words[1:]
        if not self.command and (words or self.remove is None):
            raise ValueError("no command")


def main(argv: Sequence[str]) -> int:
    """Run the command of ``argv`` under guard; returns the exit status for the warden."""
    try:
        arguments = Arguments(argv)
    except (ValueError, OSError) as problem:
        sys.stderr.write(f"warden: bad command line ({problem})\n{USAGE}\n")
        return EXIT_USAGE
    parent = os.getppid()
    wake = signals_as_bytes()
    if arguments.command:
        child = _start(arguments)
        status = EXIT_NOT_STARTED if child is None else guard(child, parent, wake)
    else:
        status = _keep(parent, wake)
    if arguments.remove is not None:
        _remove(arguments.remove)
    return status


def signals_as_bytes() -> int:
    """Make signals readable: returns a descriptor that carries each signal's number as a byte."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    for number in (*ENDING_SIGNALS, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return readable


def _start(arguments: Arguments) -> int | None:
    """Fork and exec the command; returns its pid, or None when it could not be started."""
    failure_r, failure_w = os.pipe()  # closed by a successful exec, else carries the errno
    death_signal = parent_death_signal()
    warden = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(failure_r)
        _become(arguments, failure_w, death_signal, warden)
    os.close(failure_w)
    code = os.read(failure_r, 16)
    os.close(failure_r)
    if code:
        os.waitpid(child, 0)
        _report(arguments, f"error {os.strerror(int(code))}: {arguments.command[0]}")
        return None
    _report(arguments, f"pid {child}")
    return child


def _become(arguments: Arguments, failure_fd: int, death_signal: object, warden: int) -> NoReturn:
    """In the forked child: leave the warden's session and turn into the command."""
    try:
        leave(death_signal, warden)
        os.execvp(arguments.command[0], arguments.command)  # noqa: S606
    except OSError as problem:
        os.write(failure_fd, str(problem.errno or errno.EIO).encode())
    finally:
        os._exit(EXIT_NOT_STARTED)


def leave(death_signal: object, warden: int) -> None:
    """In a process that the warden ``warden`` has forked: a session, signals and input of its own.

    The process ends if the warden has ended meanwhile. Raises OSError.
    """
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (*ENDING_SIGNALS, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    if callable(death_signal):
        death_signal(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != warden:  # it died before the death signal was armed
        os._exit(EXIT_NOT_STARTED)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def parent_death_signal() -> object:
    """prctl of the C library on Linux (loaded before the fork), else None."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, OSError, AttributeError):
        return None


def _report(arguments: Arguments, line: str) -> None:
    if arguments.report_fd is None:
        if line.startswith("error"):
            sys.stderr.write(f"warden: {line}\n")
        return
    try:
        os.write(arguments.report_fd, line.encode() + b"\n")
        os.close(arguments.report_fd)
    except OSError:  # the reader has gone: end of file on stdin is about to follow
        pass


def guard(child: int, parent: int, wake: int) -> int:
    """Wait for an end (see the module's text), then end the group; the exit status.

    ``wake`` is that of `signals_as_bytes`.
    """
    watched = [0, wake]
    while True:
        status = _ended(child)
        if status is not None:
            break
        ready, _, _ = select.select(watched, [], [], PARENT_CHECK_S)
        if os.getppid() != parent or (0 in ready and _end_of_file(0)):
            break
        if wake in ready and _asked_to_end(wake):
            break
    _kill_group(child)
    if status is None:
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _keep(parent: int, wake: int) -> int:
    """Wait until no process holds the other end of standard input; the exit status."""
    checks = ORPHAN_CHECKS
    while checks:
        ready, _, _ = select.select([0, wake], [], [], PARENT_CHECK_S)
        if (0 in ready and _end_of_file(0)) or (wake in ready and _asked_to_end(wake)):
            break
        if os.getppid() != parent:  # a forked sibling may hold the pipe for ever
            checks -= 1
    return 0


def _ended(child: int) -> int | None:
    pid, status = os.waitpid(child, os.WNOHANG)
    return status if pid == child else None


def _end_of_file(descriptor: int) -> bool:
    try:
        return not os.read(descriptor, 4096)
    except BlockingIOError:
        return False
    except OSError:  # stdin closed or a terminal that has gone: nothing else can end us
        return True


def _asked_to_end(wake: int) -> bool:
    try:
        return any(number in ENDING_SIGNALS for number in os.read(wake, 4096))
    except BlockingIOError:
        return False


def _kill_group(child: int) -> None:
    """SIGKILL to every process of the group that the command leads."""
    try:  # noqa: SIM105 - contextlib costs more than all the rest of this file
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # all gone; macOS says EPERM for zombies
        pass


def _remove(folder: str) -> None:
    import shutil  # only here: these are the heaviest imports of this file
    import time

    end = time.monotonic() + REMOVE_LIMIT_S
    while os.path.exists(folder) and time.monotonic() < end:  # noqa: PTH110 - pathlib is slow
        shutil.rmtree(folder, ignore_errors=True)
        # Others that are dying at this moment may still write into it.
        time.sleep(REMOVE_PAUSE_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

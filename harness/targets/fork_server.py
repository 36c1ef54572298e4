"""A process that has imported the built-in broker and forks it: a start costs no imports.

``python -P -m harness.targets.fork_server FD``: FD is a Unix socket on which a
:class:`harness.targets.forking.ForkServer` sends requests. For each one the server forks a warden
(:mod:`harness.targets.warden`), and the warden forks the command::

    caller ── fork server ── warden ── command: python [-P] -m MODULE ARGUMENT ...

The command is run as ``python -m`` runs it, in an interpreter that has loaded the broker's modules.
The server has one thread, so that a fork is safe. It ends when the caller has ended; wardens then
have another parent and end their commands. A caller that starts a second command will start more:
before that, the server loads what all brokers load in their first second.
"""

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import Any

from harness.targets import warden

LENGTH = struct.Struct(">I")
"""Before each request: the size in bytes of its JSON."""
ANSWER = struct.Struct(">i")
"""The pid of a warden, or an errno below 0."""
DESCRIPTORS = 5
"""The most that come with a request: standard input, output, report, status, perhaps one to hold"""
PR_SET_NAME = 15
MODULES = (
    "harness.reference_broker.command",
    "harness.reference_broker.cluster.running",
    "harness.reference_broker.storage.log_directory",
)

EVERYDAY = "harness.reference_broker.preloading"


@dataclass(frozen=True)
class Request:
    """A process to start: the words after ``python``, environment, folder and descriptors."""

    words: list[str]
    environment: dict[str, str]
    directory: str
    descriptors: list[int]


def main() -> None:
    """Serve; in a process that was forked for a command, be that command."""
    for module in MODULES:
        import_module(module)
    _share_pages()
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        _run(request.words)


def _share_pages() -> None:
    """Keep the pages of what is loaded shared with the forks: the collector leaves them alone."""
    gc.collect()
    gc.freeze()


def serve(connection: socket.socket) -> Request | None:
    """Fork for each request until the caller ends; a request comes back in the command's process.

    Returns None in the server itself.
    """
    signal.signal(signal.SIGCHLD, _reap)
    prctl, caller = warden.parent_death_signal(), os.getppid()
    for served in count():
        request = _next(connection, caller)
        if request is None:
            break
        if served == 1:
            import_module(EVERYDAY).load_everyday()
            _share_pages()
        try:
            pid = os.fork()
        except OSError as problem:
            pid = -(problem.errno or 1)
        if pid == 0:
            connection.close()
            _guard(request, prctl)
            return request
        for descriptor in request.descriptors:
            os.close(descriptor)
        connection.sendall(ANSWER.pack(pid))
    return None


def _next(connection: socket.socket, caller: int) -> Request | None:
    """None when the caller has ended; a process forked from it may hold the socket open."""
    while not select.select([connection], [], [], warden.PARENT_CHECK_S)[0]:
        if os.getppid() != caller:
            return None
    head, descriptors, _, _ = socket.recv_fds(connection, LENGTH.size, DESCRIPTORS)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    body = b""
    while len(body) < size:
        piece = connection.recv(size - len(body))
        if not piece:
            return None
        body += piece
    fields: dict[str, Any] = json.loads(body)
    return Request(**fields, descriptors=descriptors)


def _reap(number: int, frame: object) -> None:
    """Leave no zombies; the processor time of wardens counts as this process's."""
    del number, frame
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _guard(request: Request, prctl: object) -> None:
    """In the first fork: be the warden of the second, in which alone this returns."""
    stdin, output, report, status, *_held = request.descriptors
    code = warden.EXIT_NOT_STARTED
    is_command = False
    try:
        os.setsid()
        for descriptor, standard in ((stdin, 0), (output, 1), (output, 2)):
            os.dup2(descriptor, standard)
        os.close(stdin)
        os.close(output)
        os.chdir(request.directory)
        os.environ.clear()
        os.environ.update(request.environment)
        server, wake, this = os.getppid(), warden.signals_as_bytes(), os.getpid()
        ready_r, ready_w = os.pipe()
        child = os.fork()
        is_command = child == 0
        if is_command:
            _leave_the_warden(prctl, this)
            _name(prctl, request.words)
            return
        os.close(ready_w)
        os.read(ready_r, 1)  # its end: the command has a process group, which can be killed
        os.write(report, f"pid {child}\n".encode())
        os.close(report)
        code = warden.guard(child, server, wake)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.write(report, f"error {problem.strerror}\n".encode())
    finally:
        if not is_command:
            os.write(status, str(code).encode())
            os._exit(code)


def _leave_the_warden(prctl: object, warden_pid: int) -> None:
    """In the command's process: nothing of the warden's is left, as behind an ``exec``."""
    warden.leave(prctl, warden_pid)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def _name(prctl: object, words: list[str]) -> None:
    """``broker`` in lists of processes; the line of the command there is the server's."""
    _, module, *arguments = words if words[0] != "-P" else words[1:]
    if callable(prctl):
        prctl(PR_SET_NAME, (arguments[0] if arguments else module).encode(), 0, 0, 0)


def _run(words: list[str]) -> None:
    """As ``python WORDS`` would. Raises SystemExit as the module does."""
    if words[0] == "-P":
        words = words[1:]
    else:
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as a string, as Python does
    _, module, *arguments = words
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

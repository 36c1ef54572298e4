"""A private Docker daemon for tests: no registry, no rule of the firewall, no trace left.

It lives in its own namespaces (network, processes, mounts), so all its processes end with it.
Its published ports are those of its network; :func:`inside` takes the calling thread there.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.targets.containers.daemon import connect
from harness.targets.errors import TargetError
from harness.targets.process import ChildProcess, Deadline

START_TIMEOUT_MS = 60_000
STOP_TIMEOUT_MS = 30_000
PAUSE_S = 0.05
CLONE_NEWNET = 0x40000000
PROGRAMS = ("dockerd", "containerd", "runc", "docker-proxy", "iptables", "ip", "unshare")
# PATH of a plain user has no sbin.
SEARCH = os.pathsep.join(
    (os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin")
)
INSTALL = "apt-get install docker.io iptables"


@dataclass(frozen=True)
class Daemon:
    """``address`` for DOCKER_HOST; ``network``: the file of its network namespace, None: ours."""

    address: str
    network: Path | None


def why_not() -> str | None:
    """The reason why no daemon can be started here; None when it can."""
    if not sys.platform.startswith("linux"):
        return "a Docker daemon can be started on Linux only"
    if os.geteuid() != 0:
        return "no Docker daemon answers, and only root can start one"
    missing = [name for name in PROGRAMS if not shutil.which(name, path=SEARCH)]
    return (
        f"no Docker daemon answers, and {missing[0]} is not there: {INSTALL}" if missing else None
    )


@contextmanager
def own_daemon() -> Iterator[Daemon]:
    """Start a daemon; end it with all its containers and files."""
    folder = Path(tempfile.mkdtemp(prefix="kc-dockerd-"))  # a socket's path has to be short
    daemon = ChildProcess(
        ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
         "sh", "-c", f"ip link set lo up && exec {' '.join(_dockerd(folder))}"],
        folder / "dockerd.log",
        environment={**os.environ, "PATH": SEARCH},
        remove=folder,
    )  # fmt: skip
    try:
        yield Daemon(f"unix://{folder}/docker.sock", _network(daemon, folder))
    finally:
        for child in _children(daemon.pid):
            child.terminate()
        daemon.wait(STOP_TIMEOUT_MS)
        daemon.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _dockerd(folder: Path) -> list[str]:
    return [
        "dockerd", "--host", f"unix://{folder}/docker.sock",
        "--data-root", f"{folder}/root", "--exec-root", f"{folder}/exec",
        "--pidfile", f"{folder}/dockerd.pid", "--iptables=false", "--ip6tables=false",
        "--ip-forward=false", "--ip-masq=false",
    ]  # fmt: skip


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []


def _network(daemon: ChildProcess, folder: Path) -> Path:
    """Wait until the daemon answers; return the network namespace in which it lives."""
    deadline = Deadline(START_TIMEOUT_MS)
    while daemon.is_alive() and deadline.left_ms():
        if (folder / "docker.sock").exists() and _answers(folder):
            return Path(f"/proc/{daemon.pid}/ns/net")
        time.sleep(PAUSE_S)
    raise TargetError(f"dockerd does not answer; its log ends with\n{daemon.tail()}")


def _answers(folder: Path) -> bool:
    before = os.environ.get("DOCKER_HOST")
    os.environ["DOCKER_HOST"] = f"unix://{folder}/docker.sock"
    try:
        connect().close()
    except TargetError:
        return False
    finally:
        os.environ.pop("DOCKER_HOST")
        if before is not None:
            os.environ["DOCKER_HOST"] = before
    return True


@contextmanager
def inside(network: Path | None) -> Iterator[None]:
    """Give this thread, and processes that it starts meanwhile, another network."""
    if network is None:
        yield
        return
    with Path("/proc/thread-self/ns/net").open("rb") as ours, network.open("rb") as theirs:
        _enter(theirs.fileno())
        try:
            yield
        finally:
            _enter(ours.fileno())


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))

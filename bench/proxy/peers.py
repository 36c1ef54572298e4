"""The peers between client and server, a process each, and the sources of toxiproxy."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

MODULE = "github.com/Shopify/toxiproxy/v2/cmd/server@latest"
NAMES = ("toxiproxy-server", "toxiproxy")
READY_S = 20
BUILD_S = 600


class NotRun(Exception):
    """A peer that cannot be had here, and why."""


@dataclass(frozen=True, slots=True)
class ProxyPeer:
    """The address of a peer, and its process."""

    name: str
    port: int
    process: subprocess.Popen[str]

    def processor_s(self) -> float:
        """Processor time in seconds that the process of the peer has used so far."""
        used = psutil.Process(self.process.pid).cpu_times()
        return used.user + used.system

    def held_bytes(self) -> int:
        """Return the number of bytes that one of our proxies reports as held."""
        assert self.process
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


def ours(stack: ExitStack, way: str, upstream: int) -> ProxyPeer:
    """Our proxy."""
    return _python(stack, f"ours, {way}", "bench.proxy.ours", way, str(upstream))


def bare(stack: ExitStack, upstream: int) -> ProxyPeer:
    """The relay that only writes what it reads."""
    return _python(stack, "asyncio relay", "bench.proxy.bare_relay", str(upstream))


def server(stack: ExitStack) -> ProxyPeer:
    """Behind all of them."""
    return _python(stack, "direct", "bench.proxy.server")


def _python(stack: ExitStack, name: str, module: str, *words: str) -> ProxyPeer:
    process = stack.enter_context(_process([sys.executable, "-m", module, *words]))
    assert process.stdout
    return ProxyPeer(name, int(process.stdout.readline()), process)


@contextmanager
def _process(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def toxiproxy(stack: ExitStack, upstream: int, binary: str | None) -> ProxyPeer:
    """Raises NotRun when it is not there and cannot be built."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    port, control = _free_port(), _free_port()
    proxy = {"name": "bench", "listen": f"127.0.0.1:{port}", "upstream": f"127.0.0.1:{upstream}"}
    config = folder / "proxies.json"
    config.write_text(json.dumps([proxy | {"enabled": True}]), "utf-8")
    command = [binary or _found(folder), "-config", str(config), "-port", str(control)]
    try:
        log = stack.enter_context((folder / "log").open("w"))
        process = subprocess.Popen(command, stdout=log, stderr=log, text=True)
    except OSError as error:
        raise NotRun(f"{command[0]} does not start: {error}") from None
    stack.callback(_end, process)
    _await_port(port, process)
    return ProxyPeer("toxiproxy", port, process)


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def _found(folder: Path) -> str:
    for name in NAMES:
        if found := shutil.which(name):
            return found
    if not shutil.which("go"):
        raise NotRun("no toxiproxy on PATH, and no Go to build it; give one by --toxiproxy BINARY")
    done = subprocess.run(
        ["go", "install", MODULE],
        env=os.environ | {"GOBIN": str(folder)},
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    if done.returncode:
        raise NotRun(f"toxiproxy cannot be built: {done.stderr.strip().splitlines()[-1]}")
    return str(folder / "server")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _await_port(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + READY_S
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise NotRun("toxiproxy does not listen")

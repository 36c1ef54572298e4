"""The brokers: each a process of its own, and what it has used of a processor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psutil

from harness.targets.spec import parse_target

OURS, KAFKA, MOCK, CANNED = "reference", "kafka:4.4.0", "librdkafka mock", "canned answers"
_MOCK_FILE = "command:docker/librdkafka-mock.toml"


@dataclass(frozen=True, slots=True)
class BrokerPeer:
    """The address of a peer, and its process."""

    name: str
    address: tuple[str, int]
    process: psutil.Process

    @property
    def bootstrap(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def processor_s(self) -> float:
        """Processor time in seconds that the process has used so far."""
        used = self.process.cpu_times()
        return float(used.user + used.system)

    def held_bytes(self) -> int:
        """Resident memory of the process."""
        return int(self.process.memory_info().rss)


def started(stack: ExitStack, name: str, options: str = "") -> BrokerPeer:
    """One of the names above, with options of its target; ended with the stack."""
    if name == CANNED:
        port = stack.enter_context(_canned())
        return BrokerPeer(name, ("127.0.0.1", port), _listener(port))
    target = stack.enter_context(parse_target(_MOCK_FILE if name == MOCK else name + options))
    host, port = target.addresses[0]
    return BrokerPeer(name, (host, port), _listener(port))


@contextmanager
def _canned() -> Iterator[int]:
    command = [sys.executable, "-m", "bench.broker.canned"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _listener(port: int) -> psutil.Process:
    for child in psutil.Process().children(recursive=True):
        for one in child.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr.port == port:
                return child
    raise LookupError(f"no process of ours listens at {port}")

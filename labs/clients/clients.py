"""The clients: how each is started, which release it is, and what it does not offer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from harness.clients.calls import Calls
from harness.clients.one_client import DRIVERS
from harness.clients.programs import PROGRAMS
from harness.clients.session import ClientSession
from harness.clients.vocabulary import CALLS, EAGER, STRATEGIES
from labs.clients.official import RELEASE, official
from labs.clients.tools import TOOLS, CommandLine


@dataclass(frozen=True, slots=True)
class Client:
    """``start`` takes the bootstrap addresses and a log file. ``lacks``: calls, with the reason.

    ``strategies``: of rebalances.
    """

    name: str
    start: Callable[[str, Path], AbstractContextManager[Calls]]
    release: Callable[[], str]
    lacks: Mapping[str, str] = field(default_factory=dict)
    strategies: tuple[str, ...] = STRATEGIES

    def offers(self, *calls: str) -> bool:
        """True if the client has all of these calls."""
        return not self.lacks.keys() & set(calls)


BY_CONSOLE = "by the console tools, in test_tools.py"
LACKS_OF_TOOLS = {
    "produce": BY_CONSOLE,
    "read_from_time": BY_CONSOLE,
    "join": BY_CONSOLE,
    "poll": BY_CONSOLE,
    "assignment": BY_CONSOLE,
    "commit": BY_CONSOLE,
    "leave": BY_CONSOLE,
    "transact": "no tool sends transactions",
}


def _tools(release: str) -> Client:
    tools = TOOLS[release]
    return Client(
        f"tools-{release}",
        lambda bootstrap, log: CommandLine(tools, bootstrap, log),
        lambda: release,
        LACKS_OF_TOOLS,
        strategies=(),
    )


def _python(name: str) -> Callable[[str, Path], ClientSession]:
    words = [sys.executable, "-P", "-m", "harness.clients.one_client", name]
    return lambda bootstrap, log: ClientSession([*words, bootstrap], log)


FRANZ_GO = "franz-go"


def _franz_go(bootstrap: str, log: Path) -> ClientSession:
    """Raises ObtainError: there is no Go."""
    return ClientSession([*PROGRAMS[FRANZ_GO].command(FRANZ_GO), bootstrap], log)


def _built_in() -> str:
    program, _ = PROGRAMS[FRANZ_GO].command(FRANZ_GO)
    words = [program, "--version", FRANZ_GO]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _installed(
    name: str, lacks: Mapping[str, str] | None = None, strategies: tuple[str, ...] = STRATEGIES
) -> Client:
    return Client(name, _python(name), lambda: version(name), lacks or {}, strategies)


CLIENTS = {
    one.name: one
    for one in (
        _installed("confluent-kafka"),
        _installed("kafka-python"),
        _installed(
            "aiokafka",
            {"delete_group": "its admin client has no such call"},
            strategies=(EAGER,),
        ),
        Client("java", official, lambda: RELEASE),
        Client(FRANZ_GO, _franz_go, _built_in),
        *map(_tools, TOOLS),
    )
}
TOOL_CLIENTS = tuple(f"tools-{release}" for release in TOOLS)
WITH_HEADERS = ("tools-4.3.1",)
"""The console producer reads headers from 3.2 on (KIP-798)."""

assert all(one.lacks.keys() <= CALLS.keys() for one in CLIENTS.values())
assert DRIVERS.keys() <= CLIENTS.keys()

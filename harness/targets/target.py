"""What every target can do, whatever it is made of."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from harness.targets.errors import MissingCapability, TargetStartError

CREATE_TOPICS = "create_topics"
OWN_BROKER = "own_broker"
BROKER_CONFIG = "broker_config"

CAPABILITIES: dict[str, str] = {
    CREATE_TOPICS: "tests may create topics on it",
    OWN_BROKER: "a private broker can be started for one test",
    BROKER_CONFIG: "a private broker can be started with settings of its own",
}
"""The names that a target may declare, with their meaning."""


class Address(NamedTuple):
    """Where a broker listens; ``host`` is a name or an IPv4 or IPv6 literal without brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Target(ABC):
    """A broker (or a cluster) to be judged.

    As a context manager it is started at the entrance and stopped at the exit. ``start`` may be
    called again after ``stop``; what was stored is then gone.
    """

    spec: str
    """The string that names this target on a command line."""
    implementation: str
    """Whose broker it is, for the report."""
    release: str
    """Its version; "unknown" for a broker that we did not start."""
    capabilities: frozenset[str]
    """What it lets a test do: keys of :data:`CAPABILITIES`."""

    def __init__(self, log_dir: Path | None = None) -> None:
        """``log_dir`` gets the logs; default: a new folder in the system's temporary one."""
        self.log_dir = log_dir
        self.addresses: list[Address] = []

    @abstractmethod
    def start(self) -> list[Address]:
        """Start it, wait until it answers, and tell its addresses (the same when it runs).

        Raises TargetError: cannot be started, or does not answer.
        """

    @abstractmethod
    def stop(self) -> None:
        """End it: afterwards no process, port or data folder is left. Twice is fine."""

    @abstractmethod
    def is_alive(self) -> bool:
        """Whether it still runs (a process of ours), or still answers (anyone else's)."""

    @property
    @abstractmethod
    def log_path(self) -> Path | None:
        """The log of the last start, which stays after the stop; None without a log."""

    def start_another(self, settings: Mapping[str, str] | None = None) -> Target:
        """Start a private broker like this one, with broker settings by Kafka's names.

        Returned running; the caller stops it (``with target.start_another() as mine: ...``).
        Raises MissingCapability where ``own_broker`` or, with settings, ``broker_config`` lacks.
        """
        self.require(OWN_BROKER)
        if settings:
            self.require(BROKER_CONFIG)
        another = self._another(dict(settings or {}))
        another.start()
        return another

    def _another(self, settings: dict[str, str]) -> Target:  # noqa: ARG002
        """A second target of this kind, not yet started."""
        raise MissingCapability(OWN_BROKER, self.spec)

    def require(self, capability: str) -> None:
        """Raises MissingCapability unless this target has the capability."""
        if capability not in self.capabilities:
            raise MissingCapability(capability, self.spec)

    def describe_failure(self) -> str | None:
        """For a target that died: what its log says last; None when nothing is known."""
        return None

    def _log_folder(self) -> Path:
        if self.log_dir is None:
            self.log_dir = Path(tempfile.mkdtemp(prefix="kafka-conformance-logs-"))
        return self.log_dir

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        if not self.addresses:
            raise TargetStartError(f"{self.spec} started without an address")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

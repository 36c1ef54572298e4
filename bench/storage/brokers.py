"""The brokers, a process each, and what of a topic they keep in which files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.broker.record_load import LIMIT_S
from harness.targets.reference import COMMAND, ReferenceBroker
from harness.targets.spec import parse_target
from harness.targets.target import Target

_SOON = "set.log.segment.delete.delay.ms=1000"
"""Files of deleted topics go at once, with Kafka too: else rounds pile up in the page cache."""
DISK = f"reference,disk,{_SOON}"
KAFKA = f"kafka:4.4.0,heap=1g,jvm=kafka,{_SOON}"
"""As its own scripts start it."""
MEMORY = "reference"
TOGETHER = "reference, controller and broker in one"
"""As on the disk, in memory: what a controller beside it costs is no cost of the disk."""


@dataclass(frozen=True, slots=True)
class StorageRunning:
    """A broker that runs."""

    target: Target

    @property
    def bootstrap(self) -> str:
        """Where clients find it."""
        return str(self.target.addresses[0])

    @property
    def address(self) -> tuple[str, int]:
        """The same."""
        host, port = self.target.addresses[0]
        return host, port

    def make_topic(self, name: str) -> None:
        """With one partition; returns when it is there."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(LIMIT_S)

    def delete_topic(self, name: str) -> None:
        """Returns when it is gone for clients."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.delete_topics([name])[name].result(LIMIT_S)

    def files(self, topic: str) -> list[Path]:
        """Those of its partition."""
        (node,) = self.target.nodes
        (directory,) = self.target.log_directories(node)
        return sorted((directory / f"{topic}-0").iterdir())


@contextmanager
def running(names: Sequence[str]) -> Iterator[dict[str, StorageRunning]]:
    """All of them at once, each without work until it is its turn."""
    with ExitStack() as stack:
        yield {name: StorageRunning(stack.enter_context(_target(name))) for name in names}


def _target(name: str) -> Target:
    if name == TOGETHER:
        return ReferenceBroker(command=(*COMMAND, "--controller-port", "0"))
    return parse_target(name)

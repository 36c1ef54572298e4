"""Clusters of three brokers, and what their processes use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._metadata import PartitionMetadata
from confluent_kafka.cimpl import NewTopic

from harness.targets.spec import parse_target
from harness.targets.target import Target

OURS = "reference"
KAFKA = "kafka:4.4.0,heap=1g,jvm=kafka,set.file.delete.delay.ms=1000"
"""As its own scripts start it. Files of deleted topics go at once: else rounds pile up in the page
cache, and those that come later wait for the disk."""
NODES = 3
LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Running:
    """A target that runs, with all processes of it."""

    target: Target
    processes: tuple[psutil.Process, ...]

    @property
    def bootstrap(self) -> str:
        """Of all its brokers."""
        return ",".join(str(address) for address in self.target.addresses)

    def processor_s(self) -> float:
        """Processor time in seconds that the cluster's processes have used so far."""
        used = [process.cpu_times() for process in self.processes if process.is_running()]
        return float(sum(times.user + times.system for times in used))

    def in_sync(self, topic: str) -> int:
        """Number of in-sync replicas of the first partition."""
        return len(self._partitions(topic)[0].isrs)

    def all_in_sync(self, topic: str, replicas: int) -> bool:
        """True if every partition has ``replicas`` replicas in sync."""
        return all(len(each.isrs) == replicas for each in self._partitions(topic).values())

    def _partitions(self, topic: str) -> dict[int, PartitionMetadata]:
        told = AdminClient({"bootstrap.servers": self.bootstrap}).list_topics(topic, LIMIT_S)
        return dict(told.topics[topic].partitions)

    def make_topic(self, name: str, partitions: int, replicas: int) -> None:
        """Returns when the controller has it."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for made in admin.create_topics([NewTopic(name, partitions, replicas)]).values():
            made.result(LIMIT_S)

    def delete_topic(self, name: str) -> None:
        """Returns when the controller has it."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.delete_topics([name])[name].result(LIMIT_S)


@contextmanager
def running(name: str, nodes: int = NODES) -> Iterator[Running]:
    """``name`` as above; one node is the same broker alone: ours keeps its logs in files too."""
    before = set(psutil.Process().children(recursive=True))
    spec = name if (name, nodes) == (KAFKA, 1) else f"{name},nodes={nodes}"
    with TemporaryDirectory() as logs, parse_target(spec, log_dir=Path(logs)) as target:
        own = set(psutil.Process().children(recursive=True)) - before
        yield Running(target, tuple(own))

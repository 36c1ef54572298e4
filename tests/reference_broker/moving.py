"""A broker with its logs in several folders, among which replicas move."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from harness.base.ids import PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import Effect
from harness.reference_broker.initial_state import state_of
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.directory_ids import MIGRATING
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.replica_moves.log_moving import moving_round, resume, wish
from harness.reference_broker.storage.node_files import NodeFiles
from tests.reference_broker.storage.test_storage import NOW

NAMES = ("first", "second", "third")
TOPIC = UUID(int=7)


class Moving:
    """A broker in a folder; logs there are found again, whatever end the last one had.

    ``believed_in``: the directory in which the cluster believes the next new log.
    """

    def __init__(self, place: Path, like: str = "") -> None:
        self.place, self.believed_in = place, MIGRATING
        self.files = NodeFiles([place / name for name in NAMES], "a", 1)
        self.state: BrokerState = state_of(BrokerSettings.of({}, like), "h", 1, random.Random(1))
        self.state.cluster.host.storage = self.files.logs

    def replica(self, name: str = "t", **configs: str) -> Partition:
        """A new replica that leads alone."""
        given = {key.replace("_", "."): value for key, value in configs.items()}
        cluster = self.state.cluster
        topic = cluster.add_topic(name, TOPIC, self.state.topic_config(given))
        own = cluster.host.own
        alone = PartitionRegistration.new([own], [own])
        registered = replace(alone, directories=(self.believed_in,))
        return cluster.add_partition(topic, PartitionIndex(0), registered, NOW)

    def resume(self) -> None:
        resume(self.state.cluster, NOW)

    def wish(self, folder: str, name: str = "t", index: int = 0) -> ErrorCode:
        return wish(self.state, name, index, str(self.place / folder), NOW)

    def bring(self, steps: int = 1_000) -> list[Effect]:
        """Copy so many pieces, or as many as there are."""
        left = iter(range(steps - 1, -1, -1))
        found: list[Effect] = []
        for effects in moving_round(self.state.cluster, _now, lambda _: next(left) > 0):
            found += effects
        return found

    def folders(self) -> dict[str, list[str]]:
        """The log folders in each directory, without the parts that make names unique."""
        return {
            name: sorted(
                f"{each.name.partition('.')[0]}{each.name[-7:] if '.' in each.name else ''}"
                for each in (self.place / name).iterdir()
                if each.is_dir()
            )
            for name in NAMES
            if (self.place / name).is_dir()
        }

    def places(self) -> dict[str, bool]:
        """The directories with a log of a partition, and for each if it is the future one."""
        return {
            Path(one.path).name: log.is_future
            for one in self.files.logs.directories()
            for log in one.logs.values()
        }


@contextmanager
def moving(place: Path, *, clean: bool = False, like: str = "") -> Iterator[Moving]:
    """Kill the broker at the end, or stop it in good order."""
    broker = Moving(place, like)
    try:
        yield broker
    finally:
        for partition in broker.state.cluster.partitions() if clean else ():
            partition.note_offsets()
        broker.files.close(broker_epoch=1 if clean else None)


def _now() -> TimeMs:
    return NOW

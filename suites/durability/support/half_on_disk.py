"""A broker with two log directories; the second is on a disk of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.power_loss.power_loss_disk import PowerLossDisk
from harness.runner.brokers.persistent_broker import PersistentBroker
from suites.durability.support.broken_logs import await_back
from suites.durability.support.log_dirs import PARTITIONS, HalfFailed


class HalfOnDisk(HalfFailed):
    """A broker and a topic as in the base class; ``disk`` holds the second directory."""

    def __init__(self, kept: PersistentBroker, disk: PowerLossDisk) -> None:
        """Move the directory while the broker is down. Raises Inconclusive as in the base class."""
        super().__init__(kept)
        self.disk = disk
        kept.stop()
        _move(self.failing, disk.path / self.failing.name)
        kept.start()
        for partition in range(PARTITIONS):
            await_back(kept.client, self.topic, partition)


def _move(folder: Path, to: Path) -> None:
    """It is found where it was, by a link."""
    shutil.copytree(folder, to, symlinks=True)
    shutil.rmtree(folder)
    folder.symlink_to(to, target_is_directory=True)

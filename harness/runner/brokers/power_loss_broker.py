"""A private broker with a disk that can lose power."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runner.brokers.persistent_broker import PersistentBroker

if TYPE_CHECKING:
    from harness.client.broker import BrokerUnderTest
    from harness.power_loss.power_loss_disk import PowerLossDisk
    from harness.targets.target import Target

ONLY_NODE = 1
"""The id of a target's broker that is its only one."""


class PowerLossBroker(PersistentBroker):
    """A broker that can also end by a power loss: then its disk has only what was flushed to it."""

    def __init__(self, target: Target, client: BrokerUnderTest, disk: PowerLossDisk) -> None:
        """``disk``: holds all data of the running ``target``."""
        super().__init__(target, client)
        self.disk = disk

    def sync(self) -> None:
        """Flush all that the broker has written so far, as an operator's ``sync`` does."""
        self.disk.sync()

    def lose_power(self) -> None:
        """The disk stops, the broker is gone; what the disk has can be seen, and it starts again
        from that."""
        self.client.hang_up()
        self.disk.cut()
        self.kill()
        self.disk.remount()

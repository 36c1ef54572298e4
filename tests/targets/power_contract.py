"""Contract of a target with disks that can lose power."""

from harness.power_loss.power_loss_disk import PowerLossDisk
from harness.runner.brokers.power_loss_broker import ONLY_NODE
from harness.targets.target import OWN_BROKER, POWER_LOSS
from tests.targets.capability_contract import Asked, accepts


class PowerContract:
    """Mixin of a CapabilityContract."""

    def test_private_broker_restarts_after_power_loss_of_disk(self, asked: Asked) -> None:
        if asked.lacks(OWN_BROKER, POWER_LOSS):
            return
        with PowerLossDisk() as disk:
            folders = {ONLY_NODE: disk.path / "node"}
            with asked.target.start_another(node_folders=folders) as mine:
                (node,) = mine.nodes
                address = mine.address_of(node)
                assert any(folders[node].iterdir()), "it keeps its data elsewhere"
                disk.sync()
                disk.cut()
                mine.kill_node(node)
                disk.remount()
                mine.restart_node(node)
                assert mine.address_of(node) == address
                assert accepts(address)

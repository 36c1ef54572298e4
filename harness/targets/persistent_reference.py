"""Our own broker with its logs in a folder: they outlive its process, and can be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.base.address import Address
from harness.reference_broker.settings import BrokerSettings, folders_of
from harness.targets.errors import TargetStartError
from harness.targets.ports import free_ports
from harness.targets.reference import TAKEN, ReferenceBroker
from harness.targets.start_again import StartAgain
from harness.targets.target import LOG_DIRECTORY, POWER_LOSS, RESTART_NODE

_ONLY_NODE = 1


class PersistentReference(ReferenceBroker):
    """One node, controller and broker in one; it is started again where it was before."""

    named = "reference,disk"
    capabilities = ReferenceBroker.capabilities | {RESTART_NODE, LOG_DIRECTORY, POWER_LOSS}

    def _launch(self) -> Address:
        self._make_data_dir()
        (port,) = free_ports(1)
        return self._launch_at(port)

    def _launch_again(self, address: Address) -> None:
        self._launch_at(address.port)

    def _launch_at(self, port: int) -> Address:
        try:
            return self._launch_with(["--port", str(port), "--data-dir", str(self._folder())])
        except TargetStartError as problem:
            if self._child is not None and TAKEN in self._child.log_text():
                raise StartAgain(f"a port was taken by another process: {problem}") from problem
            raise

    def _folder(self) -> Path:
        assert self.data_dir is not None
        return self.node_folders.get(_ONLY_NODE, self.data_dir / "node")

    def log_directories(self, node: int) -> list[Path]:
        self.address_of(node)
        return folders_of(BrokerSettings.of(self.settings, self.like), self._folder())

    def _another(self, settings: dict[str, str]) -> ReferenceBroker:
        return self._another_kept(settings)


class UpgradedReference(PersistentReference):
    """It begins ``like`` an older release, and is like its own when it is started again."""

    def __init__(self, *, like: str = "", **options: Any) -> None:
        super().__init__(like=like, **options)
        self._newer = like

    def _launch_again(self, address: Address) -> None:
        self.like = self._newer
        super()._launch_again(address)

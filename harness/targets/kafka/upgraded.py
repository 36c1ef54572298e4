"""A Kafka that begins as an older release, and is its own from its next start on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.targets.kafka.eras import Mode
from harness.targets.kafka.target import KafkaTarget


class UpgradedKafka(KafkaTarget):
    """One broker; :meth:`restart_node` is the upgrade."""

    def __init__(
        self,
        older: str,
        release: str,
        mode: Mode,
        *,
        heap: str,
        jvm: str,
        settings: Mapping[str, str],
        log_dir: Path,
    ) -> None:
        """Raises TargetError: the older one has not that mode."""
        self._newer = release
        super().__init__(
            older,
            mode=mode.value,
            heap=heap,
            jvm=jvm,
            settings=settings,
            log_dir=log_dir,
        )

    def restart_node(self, node: int) -> None:
        if self.release != self._newer:
            self.stop_node(node)
            self.release = self._newer
            assert self._cluster is not None
            self._cluster.upgrade(self._planned(1, 1), self._programs())
        super().restart_node(node)

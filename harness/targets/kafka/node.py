"""One Kafka process: a broker, a KRaft controller, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.address import Address
from harness.targets.errors import TargetError
from harness.targets.kafka.broker_config import NodeConfig, server_properties
from harness.targets.kafka.eras import Fact, knows
from harness.targets.kafka.formatted import format_node
from harness.targets.kafka.hosts_file import write_hosts
from harness.targets.kafka.jvm import Jvm
from harness.targets.kafka.logging_config import write_logging
from harness.targets.kafka.server import JavaServer

MAIN = "kafka.Kafka"
OPEN_CLASS_LOADER = "--add-opens=java.base/java.lang=ALL-UNNAMED"
"""Needed by snappy-java up to 1.0.5, on a Java with modules, to load its native part."""


class KafkaNode(JavaServer):
    """A node with its files in ``folder``: server.properties and the log directory.

    ``jvms``: of its release, and of the one that formats its log directories. ``cluster_id``: for
    KRaft, which needs a formatted log directory before the first start.
    """

    def __init__(
        self,
        called: str,
        jvms: Mapping[str, Jvm],
        folder: Path,
        log_path: Path,
        config: NodeConfig,
        cluster_id: str | None,
    ) -> None:
        super().__init__(called, jvms[config.release], folder, log_path)
        self.config = config
        self._jvms = jvms
        self.cluster_id = cluster_id

    @property
    def node_id(self) -> int:
        """Its ``broker.id`` or ``node.id``."""
        return self.config.node_id

    def upgrade(self, config: NodeConfig, jvms: Mapping[str, Jvm]) -> None:
        """Set the configuration of the next start, of this release or another one of ``jvms``."""
        self.config, self._jvms, self._jvm = config, jvms, jvms[config.release]

    @property
    def address(self) -> Address:
        """The address of this broker for clients."""
        if self.config.client is None:
            raise TargetError(f"{self.called} is no broker")
        return self.config.client

    @property
    def listens_at(self) -> Address:
        """The address where it listens itself: ``address``, unless that is a proxy's."""
        return self.config.listening(self.address)

    def _command(self, archive_flags: Sequence[str]) -> list[str]:
        """Return the command of the node; its log directories are formatted now if needed."""
        if self.cluster_id is not None:
            config = self.config.as_formatted
            format_node(config, self.cluster_id, self._jvms[config.release], self.log_path)
        properties = self.folder / "server.properties"
        properties.write_text(server_properties(self.config))
        given = write_logging(self.folder, self.config.release)
        given += write_hosts(self.folder, self.config.hosts)
        opened = [] if knows(self.config.release, Fact.SNAPPY_IN_MODULES) else [OPEN_CLASS_LOADER]
        return self._jvm.words(
            self.folder, [*given, *archive_flags, *opened], MAIN, str(properties)
        )

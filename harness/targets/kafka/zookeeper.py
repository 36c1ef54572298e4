"""A ZooKeeper of our own beside a Kafka that needs one: a process, and the two questions to it.

One pinned server serves every release of Kafka up to 3.9. It is asked with its four-letter
words (ZooKeeper Administrator's Guide, "The Four Letter Words"), which need no session.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

from harness.base.address import Address
from harness.targets.artifacts import fetch_release
from harness.targets.java import JavaHome
from harness.targets.kafka.jvm import Jvm
from harness.targets.kafka.logging_config import write_log4j
from harness.targets.kafka.server import JavaServer, await_condition
from harness.targets.pinned_file import Progress

PIN = "zk-3.8.4"
HEAP = "24m"
MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
START_TIMEOUT_MS = 60_000
SESSION_END_TIMEOUT_MS = 60_000
WORD_TIMEOUT_S = 5.0


def zookeeper_jvm(java: JavaHome, progress: Progress | None) -> Jvm:
    """The JVM of the pinned server. Raises TargetError when its jars cannot be had."""
    return Jvm(java, f"zookeeper-{PIN.removeprefix('zk-')}", fetch_release(PIN, progress), HEAP)


class ZooKeeper(JavaServer):
    """A single ZooKeeper server on 127.0.0.1."""

    def __init__(
        self, called: str, jvm: Jvm, folder: Path, log_path: Path, address: Address
    ) -> None:
        super().__init__(called, jvm, folder, log_path)
        self.address = address
        self._data = folder / "data"

    def start(self, *, archive_in: Path) -> None:
        """Start it and wait until it answers. Raises TargetStartError, StartAgain."""
        self.launch(archive_in=archive_in)
        await_condition(
            self._is_ours,
            START_TIMEOUT_MS,
            self.check_start,
            f"{self.called} at {self.address} did not answer; its log is {self.log_path}; waited",
        )
        self.answered()

    def _command(self, archive_flags: Sequence[str]) -> list[str]:
        config = self.folder / "zoo.cfg"
        config.write_text(self._config())
        flags = [*write_log4j(self.folder), "-Dzookeeper.forceSync=no", *archive_flags]
        return self._jvm.words(self.folder, flags, MAIN, str(config))

    def _config(self) -> str:
        lines = {
            "tickTime": "500",
            "dataDir": str(self._data),
            "clientPort": str(self.address.port),
            "clientPortAddress": self.address.host,
            "maxClientCnxns": "0",
            "admin.enableServer": "false",  # else it takes port 8080
            "4lw.commands.whitelist": "*",
        }
        return "".join(f"{key}={value}\n" for key, value in lines.items())

    def _is_ours(self) -> bool:
        """It serves, and from our folder: another may have taken the port."""
        return f"dataDir={self._data}" in self._word("conf") and "imok" in self._word("ruok")

    def await_gone(self, broker_id: int) -> None:
        """Wait for the end of the session of a killed broker.

        Kafka refuses to start a broker while its id is registered. Raises TargetStartError.
        """
        path = f"/brokers/ids/{broker_id}"
        await_condition(
            lambda: path not in self.ephemerals(),
            SESSION_END_TIMEOUT_MS,
            self.check_start,
            f"{self.called}: the session of the ended broker {broker_id} did not end",
        )

    def ephemerals(self) -> set[str]:
        """The paths that go with their sessions: /controller, /brokers/ids/1, ..."""
        lines = (line.strip() for line in self._word("dump").splitlines())
        return {line for line in lines if line.startswith("/")}

    def _word(self, word: str) -> str:
        """The answer to a four-letter word; empty when there is none."""
        answer = b""
        try:
            with socket.create_connection(self.address, WORD_TIMEOUT_S) as connection:
                connection.sendall(word.encode())
                while part := connection.recv(65536):
                    answer += part
        except OSError:
            return ""
        return answer.decode(errors="replace")

"""Apache Kafka as a local process: one KRaft node, broker and controller, from released jars."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.java import JavaError, JavaHome, find_java
from harness.targets.artifacts import fetch_release
from harness.targets.cache import cache_dir
from harness.targets.class_archive import WRITE_TIMEOUT_MS, ClassArchive
from harness.targets.errors import TargetError
from harness.targets.kafka_config import HOST, LOG4J2, cluster_id, server_properties
from harness.targets.pinned_file import Progress
from harness.targets.process import ChildProcess, reserve_log
from harness.targets.process_target import ProcessTarget, StartAgain
from harness.targets.ready import wait_until_ready
from harness.targets.target import (
    BROKER_CONFIG,
    CREATE_TOPICS,
    OWN_BROKER,
    Address,
)

JAVA_MINIMUM = 17
JVM_FLAGS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
START_TIMEOUT_MS = 60_000
PORT_TAKEN = ("Address already in use", "java.net.BindException")
JVM_BROKEN = ("Error occurred during initialization of VM", "A fatal error has been detected")


class _PortTaken(StartAgain):
    """Somebody else took a chosen port between the choice and the bind."""


class _ArchiveUnfit(StartAgain):
    """The JVM itself broke, with a class archive that is now discarded."""


@dataclass(frozen=True)
class _Java:
    """What a start needs besides ports: runtime, classpath, class archive."""

    home: JavaHome
    classpath: str
    archive: ClassArchive


def free_ports() -> tuple[int, int]:
    """Two different ports of 127.0.0.1 that are free now (another may take them any time)."""
    with socket.socket() as one, socket.socket() as two:
        one.bind((HOST, 0))
        two.bind((HOST, 0))
        return one.getsockname()[1], two.getsockname()[1]


class KafkaProcess(ProcessTarget):
    """A single node of a released Apache Kafka (KRaft, combined), all on 127.0.0.1.

    Kafka's own defaults hold (topics are created automatically, say) except for those of
    :data:`harness.targets.kafka_config.SMALL_NODE`; ``settings`` by Kafka's names win.
    The data folder is temporary and goes with the process.
    """

    implementation = "Apache Kafka"
    capabilities = frozenset({CREATE_TOPICS, OWN_BROKER, BROKER_CONFIG})

    def __init__(
        self,
        release: str,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        choose_ports: Callable[[], tuple[int, int]] = free_ports,
        write_archive: bool = True,
    ) -> None:
        """``progress`` is told of downloads. ``write_archive``: whether the stop may take some
        seconds, once, to leave a class archive for quicker starts."""
        super().__init__(log_dir)
        self.spec = f"kafka:{release}"
        self.release = release
        self.settings = dict(settings or {})
        self._progress = progress
        self._choose_ports = choose_ports
        self._write_archive = write_archive
        self._archive: ClassArchive | None = None

    def _java(self) -> _Java:
        jars = fetch_release(self.release, self._progress)
        try:
            home = find_java(JAVA_MINIMUM)
        except JavaError as problem:
            raise TargetError(f"{self.spec}: {problem}") from problem
        folder = cache_dir() / "class-archives"
        archive = ClassArchive(folder, f"kafka-{self.release}", home, JVM_FLAGS, jars)
        return _Java(home, os.pathsep.join(map(str, jars)), archive)

    def _launch(self) -> Address:
        java = self._java()
        ports = self._choose_ports()
        cluster = cluster_id()
        self._log_path = reserve_log(self._log_folder(), f"kafka-{self.release}")
        folder = self._make_data_dir()
        properties = server_properties(folder, *ports, self.settings)
        (folder / "server.properties").write_text(properties)
        (folder / "log4j2.properties").write_text(LOG4J2)
        archive_flags = java.archive.read_flags()
        if not archive_flags and self._write_archive and java.archive.claim():
            self._archive = java.archive
            archive_flags = java.archive.write_flags()
        self._child = child = ChildProcess(
            self._command(java, cluster, archive_flags),
            self._log_path,
            # Not as an argument: 44 jars would bury all else in a list of processes.
            environment={**os.environ, "CLASSPATH": java.classpath},
            hold_fd=self._hold_fd,
        )
        address = Address(HOST, ports[0])
        wait_until_ready(
            address,
            START_TIMEOUT_MS,
            lambda: self._check_start(child, java.archive),
            cluster_id=cluster,
        )
        return address

    def _command(self, java: _Java, cluster: str, archive_flags: list[str]) -> list[str]:
        """Format the data folder with all features, then become the broker: one process group."""
        assert self.data_dir is not None
        properties = str(self.data_dir / "server.properties")
        logging = f"-Dlog4j2.configurationFile={self.data_dir / 'log4j2.properties'}"
        jvm = [str(java.home.executable), *JVM_FLAGS, logging, "-Dlog4j2.disableJmx=true"]
        tool = [*jvm, *java.archive.read_flags(), "kafka.tools.StorageTool"]
        tool += ["format", "-t", cluster, "-c", properties]
        broker = [*jvm, *archive_flags, "kafka.Kafka", properties]
        return ["/bin/sh", "-c", f"{shlex.join(tool)} && exec {shlex.join(broker)}"]

    def _check_start(self, child: ChildProcess, archive: ClassArchive) -> None:
        """Tell a start that failed by chance from one that cannot succeed."""
        if child.is_alive():
            return
        log = child.log_text()
        if any(words in log for words in PORT_TAKEN):
            raise _PortTaken(f"a port was taken by another process; the log is {self._log_path}")
        if archive.is_usable() and any(words in log for words in JVM_BROKEN):
            archive.discard()
            raise _ArchiveUnfit(f"the JVM broke; the log is {self._log_path}")
        self._check_running(child)

    def stop(self) -> None:
        try:
            if self._archive is not None and self.is_alive() and self.addresses:
                self._end_for_archive(self._archive)
        finally:
            self._end()

    def _end_for_archive(self, archive: ClassArchive) -> None:
        """A normal end, at which the JVM writes the archive; without success no harm is done."""
        assert self._child is not None
        if self._child.terminate(WRITE_TIMEOUT_MS) is not None:
            archive.keep()

    def _end(self) -> None:
        super()._end()
        if self._archive is not None:
            self._archive.release()
            self._archive = None

    def _another(self, settings: dict[str, str]) -> KafkaProcess:
        return KafkaProcess(
            self.release,
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
            write_archive=False,
        )

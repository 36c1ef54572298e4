"""Formatted log directories of KRaft nodes: StorageTool makes them once, each start copies them.

The tool is a JVM of its own and costs as much as half a start. Apart from ids and times its files
follow from the release, the roles of the node, the number of directories and the settings that
begin as in ``READS``. They are kept in the cache as one zip file for each of these cases.
"""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from pathlib import Path

from harness.base.address import Address
from harness.base.cache import cache_dir
from harness.codec.data_framing import meta_properties_bytes, read_meta_properties
from harness.targets.errors import TargetStartError
from harness.targets.kafka.broker_config import (
    NodeConfig,
    Quorum,
    new_cluster_id,
    server_properties,
)
from harness.targets.kafka.jvm import Jvm
from harness.targets.kafka.logging_config import write_logging
from harness.targets.pinned_file import exclusive
from harness.targets.ports import HOST
from harness.targets.process import ChildProcess
from harness.targets.scratch import ScratchFolder

TOOL = "kafka.tools.StorageTool"
TOOL_TIMEOUT_MS = 180_000
META = "meta.properties"
METADATA_DIR = "metadata.log.dir"
VOTERS = "controller.quorum.voters"
READS = (
    "controller.quorum.",
    "inter.broker.protocol.version",
    METADATA_DIR,
    "process.roles",
    "unstable.",
)
"""Begins of the settings that StorageTool and its Formatter read, from 2.8 to 4.4; beside these
they read ``log.dirs`` and ``node.id``."""
FRESH_S = 24 * 60 * 60
"""Older files are made anew: the checkpoint has the time of its making, by which Kafka counts the
age of snapshots (``metadata.max.retention.ms``, a week)."""

Files = dict[str, bytes]
"""By ``NUMBER/PATH``: the place of the log directory in the node's list, the path inside."""


def format_node(config: NodeConfig, cluster_id: str, jvm: Jvm, log_path: Path) -> None:
    """Make the log directories of a node as StorageTool does, unless one of them is formatted.

    ``log_path`` gets what the tool prints. Raises TargetStartError: the tool refuses, or the
    directories cannot be written.
    """
    directories = _directories(config)
    if any((each / META).exists() for each in directories):
        return
    files = _files(config, jvm, log_path)
    try:
        for name, data in files.items():
            number, _, inside = name.partition("/")
            own = _with_ids(data, config.node_id, cluster_id) if inside == META else data
            _write_durably(directories[int(number)] / inside, own)
    except OSError as problem:
        raise TargetStartError(f"the log directories cannot be formatted: {problem}") from problem


def archive_path(config: NodeConfig) -> Path:
    """The path at which the files of such a node are kept."""
    asked = server_properties(_impersonal(config, Path("/")))
    key = hashlib.sha256(asked.encode()).hexdigest()[:16]
    return cache_dir() / "formatted" / f"kafka-{config.release}-{key}.zip"


def _directories(config: NodeConfig) -> list[Path]:
    """The directories that StorageTool formats."""
    named = config.settings.get(METADATA_DIR)
    metadata = [Path(named).absolute()] if named else []
    return list(dict.fromkeys([*config.log_directories, *metadata]))


def _impersonal(config: NodeConfig, root: Path) -> NodeConfig:
    """The node without its id and addresses, its log directories below ``root``.

    Voters of the settings have ids and addresses of their own: those of a quorum stand for them.
    """
    places = {path: str(root / str(at)) for at, path in enumerate(_directories(config))}
    settings = {name: value for name, value in config.settings.items() if name.startswith(READS)}
    settings.pop(VOTERS, None)
    if METADATA_DIR in settings:
        settings[METADATA_DIR] = places[Path(settings[METADATA_DIR]).absolute()]
    settings["log.dirs"] = ",".join(places[path] for path in config.log_directories)
    node_id = 1
    voter = node_id if config.is_controller else node_id + 1
    return NodeConfig(
        config.release,
        config.mode,
        node_id,
        Quorum({voter: Address(HOST, 2)}),
        root / "log",
        None if config.client is None else Address(HOST, 1),
        settings=settings,
    )


def _files(config: NodeConfig, jvm: Jvm, log_path: Path) -> Files:
    """Return the files of the cache; one process at a time makes them, the others wait for it."""
    path = archive_path(config)
    files = _kept(path)
    if not files:
        with exclusive(path):
            files = _kept(path) or _keep(path, _formatted(config, jvm, log_path))
    return files


def _kept(path: Path) -> Files:
    """The files of an archive; none where there is no archive, an old or a broken one."""
    try:
        if abs(time.time() - path.stat().st_mtime) > FRESH_S:
            return {}
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return {}


def _keep(path: Path, files: Files) -> Files:
    """Write the archive, and replace the old one in one step: other processes may read it."""
    made = path.with_name(f"{path.name}.new")
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    made.replace(path)
    return files


def _formatted(config: NodeConfig, jvm: Jvm, log_path: Path) -> Files:
    """Return the files that the tool writes for a node. Raises TargetStartError: it refuses."""
    scratch = ScratchFolder()
    try:
        root = scratch.path / "formatted"
        properties = scratch.path / "server.properties"
        properties.write_text(server_properties(_impersonal(config, root)))
        flags = write_logging(scratch.path, config.release)
        arguments = ("format", "-t", new_cluster_id(), "-c", str(properties))
        child = ChildProcess(
            jvm.words(scratch.path, flags, TOOL, *arguments),
            log_path,
            environment=jvm.environment,
            hold_fd=scratch.hold_fd,
        )
        try:
            status = child.wait(TOOL_TIMEOUT_MS)
        finally:
            child.kill()
        if status != 0:
            raise TargetStartError(
                f"StorageTool of Apache Kafka {config.release} ended with status {status}; "
                f"its log {log_path} ends with\n{child.tail()}"
            )
        files = (path for path in sorted(root.rglob("*")) if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    finally:
        scratch.remove()


def _with_ids(data: bytes, node_id: int, cluster_id: str) -> bytes:
    """meta.properties with the node's own ids, of those that the release writes."""
    properties = read_meta_properties(data)
    own = {
        "node.id": str(node_id),
        "cluster.id": cluster_id,
        "directory.id": new_cluster_id(),  # of the same form
    }
    properties.values.update((name, own[name]) for name in own.keys() & properties.values.keys())
    return meta_properties_bytes(properties)


def _write_durably(path: Path, data: bytes) -> None:
    """Write and sync, as the tool does: the disk may lose its power right after the start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

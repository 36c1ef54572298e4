"""The check of a broker's folders against one release: what that release cannot read, or refuses.

A folder that a newer release has written may be sound and still be no folder for an older one: the
broker does not start, or takes records for damage and removes them. Tried on real brokers by
tests/log_tools/test_kafka_releases.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.codec.data_framing import read_partition_metadata, read_quorum_state
from harness.codec.data_framing.log_folder import PARTITION_METADATA, QUORUM_STATE
from harness.codec.errors import DecodeError
from harness.log_tools.broker_folders import (
    DIRECTORY_ID,
    NODE_ID,
    BrokerFolders,
    is_metadata_log,
)
from harness.log_tools.findings import Finding
from harness.log_tools.folder_names import parse_folder_name
from harness.log_tools.release_limits import FOLDER_SINCE, METADATA_VERSION, ReleaseLimits

NOT_STARTED = "the broker does not start"
_STRICT = f"2.8: {NOT_STARTED}; from 3.0 to 3.6: the log directory fails"
_ALL_STRAY = (
    "without a migration the metadata log begins empty, and each partition's folder is renamed to"
    " -stray"
)


def check_release(broker: BrokerFolders, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield what the release refuses of the log directories. Raises OSError."""
    yield from _mode(broker, limits)
    yield from _identities(broker, limits)
    yield from _folders(broker, limits)
    yield from _topic_ids(broker, limits)
    yield from _features(broker, limits)
    yield from _quorum_state(broker, limits)


def mode_at(broker: BrokerFolders, limits: ReleaseLimits) -> str:
    """Return the mode in which the release would start on the folders: KRaft or ZooKeeper."""
    if limits.has_kraft and (broker.is_kraft or not limits.has_zookeeper):
        return "KRaft"
    return "ZooKeeper"


def _mode(broker: BrokerFolders, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield folders of a node of KRaft for a release without it, and the reverse."""
    for each in broker.identities:
        if broker.is_kraft and not limits.has_kraft and each.id_key == NODE_ID:
            problem = f"version 1, that of KRaft: release {limits.release} takes version 0 alone"
            yield Finding(each.path, "release-kraft", problem, NOT_STARTED)
        if each.values and not broker.is_kraft and not limits.has_zookeeper:
            problem = f"of a broker with ZooKeeper, which release {limits.release} does not have"
            yield Finding(each.path, "release-zookeeper", problem, _ALL_STRAY)


def _identities(broker: BrokerFolders, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield ids of log directories for a release that compares whole files between directories."""
    ids = {(each.values or {}).get(DIRECTORY_ID) for each in broker.identities if each.values}
    if len(ids) > 1 and limits.is_in("2.8-3.6"):
        for each in broker.identities:
            if DIRECTORY_ID in (each.values or {}):
                problem = f"{DIRECTORY_ID}, which has to be the same in all log directories"
                yield Finding(each.path, "release-directory-id", problem, NOT_STARTED)


def _folders(broker: BrokerFolders, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield folders with names that the release does not know."""
    for directory in broker.directories:
        for path in directory.others:
            name = parse_folder_name(path.name)
            end = path.name if name is None else name.suffix
            if path.is_dir() and end in FOLDER_SINCE and not limits.has_folder(end):
                problem = f"releases before {FOLDER_SINCE[end]} do not know this name"
                yield Finding(path, "release-folder", problem, NOT_STARTED)


def _topic_ids(broker: BrokerFolders, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield versions of the file with the topic id that the release refuses."""
    for folder in broker.partitions if limits.is_in("2.8-3.6") else ():
        for path in folder.notes:
            version = _version(path) if path.name == PARTITION_METADATA else 0
            if version:
                problem = f"version {version}, release {limits.release} reads version 0 alone"
                yield Finding(path, "release-topic-id", problem, _STRICT)


def _version(path: Path) -> int:
    try:
        return read_partition_metadata(path.read_bytes()).version
    except DecodeError:
        return 0  # its own check reports it


def _features(broker: BrokerFolders, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield the finalized features that the release does not support at their level."""
    known = limits.features
    if broker.image is None or not limits.has_kraft:
        return
    (log,) = (one for each in broker.directories for one in each.partitions if is_metadata_log(one))
    for name, level in broker.image.features.items():
        low, high = (known or {}).get(name, (0, 0))
        if level and not low <= level <= high:
            kind = "release-metadata-version" if name == METADATA_VERSION else "release-feature"
            supported = f"{low} to {high}" if high else "none"
            problem = f"{name} is {level}, release {limits.release} supports {supported}"
            yield Finding(log.path, kind, problem, NOT_STARTED)


def _quorum_state(broker: BrokerFolders, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield a quorum-state of a later version."""
    if not limits.is_in("3.0-3.7"):
        return
    for directory in broker.directories:
        for folder in filter(is_metadata_log, directory.partitions):
            for path in folder.notes:
                if path.name == QUORUM_STATE and _data_version(path):
                    problem = f"version 1, release {limits.release} reads version 0 alone"
                    yield Finding(path, "release-quorum-state", problem, NOT_STARTED)


def _data_version(path: Path) -> int:
    try:
        return read_quorum_state(path.read_text("utf-8", "replace")).version
    except DecodeError:
        return 0  # its own check reports it

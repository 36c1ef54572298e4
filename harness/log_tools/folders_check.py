"""The check of the folders in all log directories of a broker against each other.

Source: class LogManager (loadLogs, loadLog); KIP-113 (future logs).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.codec.data_framing.log_folder import METADATA_TOPIC
from harness.log_tools.at_start import found
from harness.log_tools.broker_folders import BrokerFolders
from harness.log_tools.findings import Finding
from harness.log_tools.folder_names import (
    FUTURE,
    REMOTE_INDEXES,
    parse_folder_name,
)

Places = dict[tuple[str, int], list[Path]]
"""The folders of each partition, by topic and number."""


def check_folders(broker: BrokerFolders) -> Iterator[Finding]:
    """Yield folders that no partition can have, and partitions with more than one folder."""
    present: Places = {}
    future: Places = {}
    for path in _folders(broker):
        name = parse_folder_name(path.name)
        if name is None:
            if path.name != REMOTE_INDEXES:
                yield found(path, "folder-name", "the name is not that of a partition's folder")
            continue
        places = {"": present, FUTURE: future}.get(name.suffix)
        if places is not None:
            places.setdefault((name.topic, name.partition), []).append(path)
    yield from _repeated(present, "partition-twice")
    yield from _repeated(future, "future-twice")
    yield from _misplaced(present, future, broker)


def _folders(broker: BrokerFolders) -> Iterator[Path]:
    for directory in broker.directories:
        yield from (folder.path for folder in directory.partitions)
        yield from (path for path in directory.others if path.is_dir())


def _repeated(places: Places, kind: str) -> Iterator[Finding]:
    for (topic, partition), paths in places.items():
        told = "metadata-log-twice" if topic == METADATA_TOPIC else kind
        for path in paths[1:]:
            yield found(path, told, f"{topic}-{partition} has the folder {paths[0]} too")


def _misplaced(present: Places, future: Places, broker: BrokerFolders) -> Iterator[Finding]:
    """Yield future logs that cannot take the place of a present one in another directory."""
    promoted = broker.promoted
    for (topic, partition), paths in future.items():
        beside = [path.parent for path in present.get((topic, partition), [])]
        for path in paths:
            if path.parent in beside:
                problem = f"the present log of {topic}-{partition} is in the same log directory"
                yield found(path, "future-beside-present", problem)
        if not beside and (topic, partition) not in promoted and broker.is_complete:
            problem = f"there is no present log of {topic}-{partition}"
            yield found(paths[0], "future-alone", problem)

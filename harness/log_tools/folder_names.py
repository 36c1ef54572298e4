"""The name of a folder in a log directory, as a starting broker reads it.

Source: classes LogManager (loadLogs), LocalLog (parseTopicPartitionName).
"""

from __future__ import annotations

import re
from typing import NamedTuple

DELETED, FUTURE, STRAY = "-delete", "-future", "-stray"
REMOTE_INDEXES = "remote-log-index-cache"  # class RemoteIndexCache
_SUFFIXED = re.compile(r"\S+-\S+\.\S+(?P<suffix>-delete|-future|-stray)")
_NUMBER = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)


class FolderName(NamedTuple):
    """The partition of a folder; ``suffix``: one of the three, or empty for a present log."""

    topic: str
    partition: int
    suffix: str


def parse_folder_name(name: str) -> FolderName | None:
    """Return the partition that a broker of the newest release loads; None if it refuses."""
    suffix = next((end for end in (DELETED, FUTURE, STRAY) if name.endswith(end)), "")
    if suffix:
        if not _SUFFIXED.fullmatch(name):
            return None
        name = name[: name.rindex(".")]
    topic, _, partition = name.rpartition("-")
    if not topic or not _NUMBER.fullmatch(partition):
        return None
    return FolderName(topic, int(partition), suffix)

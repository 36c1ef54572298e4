"""The checkpoint files that a broker keeps beside its partitions: text, an entry a line.

Source: classes OffsetCheckpointFile, LeaderEpochCheckpointFile: a version, how many entries, and
the entries.
"""

from __future__ import annotations

from pathlib import Path

from harness.client.cluster import Cluster
from harness.client.requests import Topic

HIGH_WATERMARKS = "replication-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
_HEAD_LINES = 2


def entries_of(text: str) -> list[list[str]] | None:
    """The words of each entry; None of a file that is not whole, as while it is replaced."""
    lines = text.splitlines()
    if len(lines) < _HEAD_LINES or not lines[1].isdigit():
        return None
    entries = [line.split() for line in lines[_HEAD_LINES:]]
    return entries if len(entries) == int(lines[1]) else None


def high_watermark_noted(cluster: Cluster, node: int, topic: Topic) -> int | None:
    """That of partition 0, as this broker would begin with it; None where none is noted yet."""
    for directory in cluster.log_directories(node):
        for name, partition, offset in _entries(directory / HIGH_WATERMARKS) or ():
            if (name, partition) == (topic.name, "0"):
                return int(offset)
    return None


def epochs_noted(cluster: Cluster, node: int, topic: Topic) -> list[tuple[int, int]]:
    """Leader epochs of partition 0 with the offsets where they start; empty while none is noted."""
    for directory in cluster.log_directories(node):
        found = _entries(directory / f"{topic.name}-0" / LEADER_EPOCHS)
        if found is not None:
            return [(int(epoch), int(start)) for epoch, start in found]
    return []


def _entries(file: Path) -> list[list[str]] | None:
    try:
        return entries_of(file.read_text("utf-8"))
    except FileNotFoundError:
        return None

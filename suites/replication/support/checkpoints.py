"""Entries of a partition in the checkpoint files that a broker keeps beside its logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.data_framing.checkpoint_files import (
    read_leader_epoch_checkpoint,
    read_offset_checkpoint,
)
from harness.codec.errors import DecodeError

HIGH_WATERMARKS = "replication-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
T = TypeVar("T")


def high_watermark_noted(cluster: Cluster, node: int, topic: Topic) -> int | None:
    """Return the high watermark of partition 0 in this broker's checkpoint; None if it has none."""
    for directory in cluster.log_directories(node):
        for noted in _entries(directory / HIGH_WATERMARKS, read_offset_checkpoint):
            if (noted.topic, noted.partition) == (topic.name, 0):
                return noted.offset
    return None


def epochs_noted(cluster: Cluster, node: int, topic: Topic) -> list[tuple[int, int]]:
    """Leader epochs of partition 0 with the offsets where they start; empty while none is noted."""
    for directory in cluster.log_directories(node):
        found = _entries(
            directory / f"{topic.name}-0" / LEADER_EPOCHS, read_leader_epoch_checkpoint
        )
        if found:
            return [(noted.epoch, noted.start_offset) for noted in found]
    return []


def _entries(file: Path, read: Callable[[bytes], list[T]]) -> list[T]:
    """No entry while it is not there, or not whole because it is written."""
    try:
        return read(file.read_bytes())
    except (FileNotFoundError, DecodeError):
        return []

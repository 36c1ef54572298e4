"""Checkpoint files beside a broker's logs: recovery points, high watermarks, log starts."""

from __future__ import annotations

import os
from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.data_framing.checkpoint_files import (
    CheckpointedOffset,
    offset_checkpoint_bytes,
    read_offset_checkpoint,
)
from harness.codec.error_code import ErrorCode
from harness.codec.errors import DecodeError
from harness.codec.messages import DeleteRecordsRequest
from harness.runner.brokers.persistent_broker import PersistentBroker

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
TIMEOUT_MS = 10_000


def noted_of(kept: PersistentBroker, file: str, topic: Topic, partition: int = 0) -> int:
    """The offset that stands there for the partition now; -1 where none does."""
    for folder in kept.folders:
        try:
            noted = read_offset_checkpoint((folder / file).read_bytes())
        except (OSError, DecodeError):
            continue  # it is being replaced, or not there yet
        for one in noted:
            if (one.topic, one.partition) == (topic.name, partition):
                return one.offset
    return -1


def note(kept: PersistentBroker, file: str, topic: Topic, offsets: Mapping[int, int]) -> None:
    """Write these offsets of the topic's partitions into the file, while the broker is down."""
    for partition, offset in offsets.items():
        path = kept.partition_folder(topic.name, partition).parent / file
        entry = CheckpointedOffset(topic.name, partition, offset)
        others = [
            one
            for one in (read_offset_checkpoint(path.read_bytes()) if path.is_file() else [])
            if one[:2] != entry[:2]
        ]
        path.write_bytes(offset_checkpoint_bytes([*others, entry]))


def flush_folders(kept: PersistentBroker) -> None:
    """Sync the log folders to disk: renames in them persist, even if other data is lost."""
    for folder in kept.folders:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def delete_below(client: BrokerUnderTest, topic: Topic, offset: int) -> None:
    """Delete records of partition 0. Raises PreparationFailed if the broker refuses."""
    asked = DeleteRecordsRequest.DeleteRecordsTopic(
        name=topic.name,
        partitions=[DeleteRecordsRequest.DeleteRecordsPartition(partition_index=0, offset=offset)],
    )
    answer = client.ask(DeleteRecordsRequest(topics=[asked], timeout_ms=TIMEOUT_MS))
    code = only(only(answer.topics, "topic").partitions, "partition").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"DeleteRecords: {ErrorCode.describe(code)}")

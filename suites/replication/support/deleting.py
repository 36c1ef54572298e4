"""DeleteRecords of a watched partition, at its leader."""

from __future__ import annotations

from harness.client.only import only
from harness.codec.messages import DeleteRecordsRequest, DeleteRecordsResponse
from harness.virtual_broker.partition import WatchedPartition

Deleted = DeleteRecordsResponse.DeleteRecordsPartitionResult


def deletion(partition: WatchedPartition, offset: int, timeout_ms: int) -> DeleteRecordsRequest:
    """Return a request to delete the records below this offset."""
    request = DeleteRecordsRequest
    wanted = request.DeleteRecordsPartition(partition_index=0, offset=offset)
    topic = request.DeleteRecordsTopic(name=partition.topic.name, partitions=[wanted])
    return request(topics=[topic], timeout_ms=timeout_ms)


def deleted(answer: DeleteRecordsResponse) -> Deleted:
    """Return the answer for the only partition."""
    return only(only(answer.topics, "topic").partitions, "partition")


def delete_below(partition: WatchedPartition, offset: int, timeout_ms: int) -> Deleted:
    """Ask the leader to delete the records below this offset."""
    return deleted(partition.broker.ask(deletion(partition, offset, timeout_ms)))

"""Records that a test deletes in its preparation."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.only import only
from harness.client.preparing import preparing
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteRecordsRequest, DeleteRecordsResponse


def ask_to_delete(
    broker: BrokerUnderTest,
    topic: Topic,
    offset: int,
    version: int | None = None,
    *,
    partition: int = 0,
) -> DeleteRecordsResponse.DeleteRecordsPartitionResult:
    """Return the broker's result of a request to delete the records below ``offset``."""
    wanted = DeleteRecordsRequest.DeleteRecordsPartition(partition_index=partition, offset=offset)
    entry = DeleteRecordsRequest.DeleteRecordsTopic(name=topic.name, partitions=[wanted])
    timeout_ms = int(broker.scaled_ms(DEFAULT_TIMEOUT_MS))
    answer = broker.ask(DeleteRecordsRequest(topics=[entry], timeout_ms=timeout_ms), version)
    return only(only(answer.topics, "topic").partitions, "partition")


def delete_records(
    broker: BrokerUnderTest, topic: Topic, offset: int, *, partition: int = 0
) -> None:
    """Delete what is below ``offset``; raises PreparationFailed when refused."""
    where = f"DeleteRecords {topic.name}-{partition} below {offset}"
    with preparing(where):
        code = ask_to_delete(broker, topic, offset, partition=partition).error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"{where}: {ErrorCode.describe(code)}")

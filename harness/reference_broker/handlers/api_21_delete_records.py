"""DeleteRecords: API key 21, versions 0 to 2.

Behaviour
- The log start moves up to the offset asked for, never down; -1 stands for the high watermark.
- Of a partition that is named twice only the last offset counts.
- A topic that is only compacted keeps its records (POLICY_VIOLATION), and so does an internal one.

Version notes
- v2   compact fields (KIP-482)

Not done
- timeout_ms is not needed: with one replica the low watermark is the log start.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteRecordsRequest, DeleteRecordsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 21
_NO_LOW_WATERMARK = -1
_Result = DeleteRecordsResponse.DeleteRecordsPartitionResult


def handle(request: DeleteRecordsRequest, context: RequestContext) -> Answer:
    """Delete what can be deleted."""
    return Answer(
        DeleteRecordsResponse(
            topics=[
                DeleteRecordsResponse.DeleteRecordsTopicResult(
                    name=name,
                    partitions=[
                        _delete(name, index, offset, context) for index, offset in offsets.items()
                    ],
                )
                for name, offsets in _by_topic(request).items()
            ]
        )
    )


def _by_topic(request: DeleteRecordsRequest) -> dict[str, dict[int, int]]:
    topics: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        for part in topic.partitions:  # a topic without partitions is not answered
            topics.setdefault(topic.name, {})[part.partition_index] = part.offset
    return topics


def _delete(name: str, index: int, offset: int, context: RequestContext) -> _Result:
    topic = context.state.cluster.named(name)
    partition = None if topic is None else topic.partition(index)
    if topic is None or partition is None:
        return _refused(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic.is_internal:
        return _refused(index, ErrorCode.INVALID_TOPIC_EXCEPTION)
    if partition.leading is None:
        return _refused(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    low_watermark = partition.delete_records(offset)
    if isinstance(low_watermark, ErrorCode):
        return _refused(index, low_watermark)
    return _Result(partition_index=index, low_watermark=low_watermark)


def _refused(index: int, error: ErrorCode) -> _Result:
    return _Result(partition_index=index, low_watermark=_NO_LOW_WATERMARK, error_code=error)

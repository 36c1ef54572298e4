"""ListOffsets: API key 2, versions 0 to 11.

Behaviour
- A time finds the first record that is as late, by record and not by batch; nothing is -1.
- A partition that is named twice gets INVALID_REQUEST, but in v0.

Version notes
- v0   begins of segments and the log end, by the time of their last write, newest first
- v1   one offset, by the records' times (KIP-79)
- v4   leader epochs (KIP-320)
- v7   -3, the largest timestamp (KIP-734)
- v8   -4, the earliest local offset (KIP-405)
- v9   -5, the latest tiered offset (KIP-1005)
- v11  -6, the earliest offset that waits for upload (KIP-1023)

Not done
- v0 takes an empty log for as old as any time: when it was created is not kept.
- Tiered storage: -5 and -6 find nothing.
- Both isolation levels are the same as there are no transactions.
"""

from collections import Counter

from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.fetch_reading import find_partition
from harness.reference_broker.state.offset_search import (
    EARLIEST,
    FIRST_VERSION_WITH,
    find_offset,
    old_style_offsets,
)

API_KEY = 2
_FIRST_VERSION_WITH_EPOCH = 4
_NEVER = 2**15
_Result = ListOffsetsResponse.ListOffsetsPartitionResponse


def handle(request: ListOffsetsRequest, context: RequestContext) -> Answer:
    """Answer all partitions, by topic."""
    if context.api_version == 0:
        return _old_answer(request, context)
    times_named = Counter(
        (topic.name, part.partition_index) for topic in request.topics for part in topic.partitions
    )
    results: dict[tuple[str, int], _Result] = {}
    for topic in request.topics:
        for part in topic.partitions:
            key = (topic.name, part.partition_index)
            if times_named[key] > 1:
                results[key] = _failed(part.partition_index, ErrorCode.INVALID_REQUEST)
            else:
                results[key] = _find(topic.name, part, context)
    topics: dict[str, list[_Result]] = {}
    for (name, _), result in results.items():
        topics.setdefault(name, []).append(result)
    return Answer(
        ListOffsetsResponse(
            topics=[
                ListOffsetsResponse.ListOffsetsTopicResponse(name=name, partitions=partitions)
                for name, partitions in topics.items()
            ]
        )
    )


def _find(
    topic: str, wanted: ListOffsetsRequest.ListOffsetsPartition, context: RequestContext
) -> _Result:
    index, timestamp = wanted.partition_index, wanted.timestamp
    if timestamp < 0 and context.api_version < FIRST_VERSION_WITH.get(timestamp, _NEVER):
        return _failed(index, ErrorCode.UNSUPPORTED_VERSION)
    partition = find_partition(context.state.cluster, (topic, index))
    if isinstance(partition, ErrorCode):
        return _failed(index, partition)
    error = partition.epoch_problem(wanted.current_leader_epoch)
    if error is not ErrorCode.NONE:
        return _failed(index, error)
    found = find_offset(partition, timestamp)
    result = _Result(partition_index=index, timestamp=found.timestamp, offset=found.offset)
    if context.api_version >= _FIRST_VERSION_WITH_EPOCH:
        result.leader_epoch = found.leader_epoch
    return result


def _old_answer(request: ListOffsetsRequest, context: RequestContext) -> Answer:
    """Topics and partitions as they are asked for, repeated ones too."""
    return Answer(
        ListOffsetsResponse(
            topics=[
                ListOffsetsResponse.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[_old_find(topic.name, part, context) for part in topic.partitions],
                )
                for topic in request.topics
            ]
        )
    )


def _old_find(
    topic: str, wanted: ListOffsetsRequest.ListOffsetsPartition, context: RequestContext
) -> _Result:
    index = wanted.partition_index
    if wanted.timestamp < EARLIEST:
        return _failed(index, ErrorCode.UNSUPPORTED_VERSION)
    partition = find_partition(context.state.cluster, (topic, index))
    if isinstance(partition, ErrorCode):
        return _failed(index, partition)
    if wanted.max_num_offsets < 0:
        return _failed(index, ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka does not foresee it
    found = old_style_offsets(partition, wanted.timestamp, wanted.max_num_offsets, context.now())
    return _Result(partition_index=index, old_style_offsets=found)


def _failed(index: int, error: ErrorCode) -> _Result:
    return _Result(partition_index=index, error_code=error, timestamp=-1, offset=-1)

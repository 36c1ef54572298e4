"""DeleteRecords: API key 21, versions 0 to 2.

Behaviour
- The log start moves up to the offset asked for, never down; -1 stands for the high watermark.
- The answer waits, for timeout_ms at most, until the log of every live replica starts at that
  offset or later; it has the low watermark (KIP-107).
- For a partition that is named twice only the last offset counts.
- A topic that is only compacted keeps its records (POLICY_VIOLATION), and so does an internal one.

Version notes
- v2   compact fields (KIP-482)
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.base.ids import Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteRecordsRequest, DeleteRecordsResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, PurgatoryWait, RequestContext
from harness.reference_broker.state.partition.partition import Partition

API_KEY = 21
_NO_LOW_WATERMARK = -1
_Result = DeleteRecordsResponse.DeleteRecordsPartitionResult


class _Awaited(NamedTuple):
    """A result that holds when all replicas begin at `offset` or later."""

    result: _Result
    partition: Partition
    offset: Offset


def handle(request: DeleteRecordsRequest, context: RequestContext) -> Outcome:
    """Delete the records, and wait until the replicas have deleted them too."""
    awaited: list[_Awaited] = []
    answer = DeleteRecordsResponse(
        topics=[
            DeleteRecordsResponse.DeleteRecordsTopicResult(
                name=name,
                partitions=[
                    _delete(name, index, offset, awaited, context)
                    for index, offset in offsets.items()
                ],
            )
            for name, offsets in _by_topic(request).items()
        ]
    )
    left = _unsettled(awaited)
    if not left:
        return Answer(answer)

    def attempt() -> DeleteRecordsResponse | None:
        left[:] = _unsettled(left)
        return None if left else answer

    def at_deadline() -> DeleteRecordsResponse:
        for one in _unsettled(left):
            one.result.error_code = ErrorCode.REQUEST_TIMED_OUT
        return answer

    keys = frozenset((one.partition.topic_id, one.partition.index) for one in left)
    return PurgatoryWait(keys, TimeMs(context.now() + request.timeout_ms), attempt, at_deadline)


def _unsettled(awaited: Sequence[_Awaited]) -> list[_Awaited]:
    """Return those that still wait; the others get their result (class DelayedDeleteRecords)."""
    left = []
    for one in awaited:
        if one.partition.leading is None:
            one.result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            one.result.low_watermark = _NO_LOW_WATERMARK
            continue
        one.result.low_watermark = one.partition.low_watermark
        if one.partition.low_watermark < one.offset:
            left.append(one)
    return left


def _by_topic(request: DeleteRecordsRequest) -> dict[str, dict[int, int]]:
    topics: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        for part in topic.partitions:  # a topic without partitions is not answered
            topics.setdefault(topic.name, {})[part.partition_index] = part.offset
    return topics


def _delete(
    name: str, index: int, offset: int, awaited: list[_Awaited], context: RequestContext
) -> _Result:
    topic = context.state.cluster.named(name)
    partition = None if topic is None else topic.partition(index)
    if topic is None or partition is None:
        return _refused(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic.is_internal:
        return _refused(index, ErrorCode.INVALID_TOPIC_EXCEPTION)
    problem = partition.leader_problem()
    if problem is not ErrorCode.NONE:
        return _refused(index, problem)
    begins = partition.delete_records(offset)
    if isinstance(begins, ErrorCode):
        return _refused(index, begins)
    result = _Result(partition_index=index, low_watermark=partition.low_watermark)
    wanted = partition.high_watermark if offset < 0 else offset
    awaited.append(_Awaited(result, partition, Offset(wanted)))
    return result


def _refused(index: int, error: ErrorCode) -> _Result:
    return _Result(partition_index=index, low_watermark=_NO_LOW_WATERMARK, error_code=error)

"""WriteTxnMarkers: API key 27, versions 1 to 2.

Behaviour
- Appends a marker to each partition, as coordinators request it, and operators to end a transaction
  that hangs (KIP-664). A marker for a producer without an open transaction is appended, too.
- A producer, a topic or a partition that is named twice is answered once, one that has no
  partitions not at all.
- TRANSACTION_COORDINATOR_FENCED if a later coordinator has written to the partition.
- The answer comes when all replicas in sync have the markers.

Version notes
- v0   before Kafka 4.0
- v2   the producer's transaction version: from 2 on a marker has a higher epoch than the records
       (KIP-1228)
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from harness.base.ids import Offset, PartitionIndex, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, PurgatoryWait, RequestContext
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.partition.coordinator_append import WantedMarker
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.transactions.transaction import Place

API_KEY = 27
_Marker = WriteTxnMarkersRequest.WritableTxnMarker
_Result = WriteTxnMarkersResponse.WritableTxnMarkerResult
_TopicResult = WriteTxnMarkersResponse.WritableTxnMarkerTopicResult
_PartitionResult = WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult


class _Awaited(NamedTuple):
    result: _PartitionResult
    partition: Partition
    required: Offset


def handle(request: WriteTxnMarkersRequest, context: RequestContext) -> Outcome:
    """Append the markers, then wait for the replicas."""
    awaited: list[_Awaited] = []
    results: dict[int, dict[Place, _PartitionResult]] = {}
    for marker in request.markers:
        written = _written(marker, awaited, context)
        if marker.transaction_version >= 0 and _has_failed(written.values()):
            return Answer(_all_failed(request))
        results.setdefault(marker.producer_id, {}).update(written)
    answer = WriteTxnMarkersResponse(
        markers=[
            _Result(producer_id=producer_id, topics=_by_topic(written))
            for producer_id, written in results.items()
            if written
        ]
    )
    left = _unsettled(awaited)
    if not left:
        return Answer(answer)

    def attempt() -> WriteTxnMarkersResponse | None:
        left[:] = _unsettled(left)
        return None if left else answer

    def at_deadline() -> WriteTxnMarkersResponse:
        for one in _unsettled(left):
            one.result.error_code = ErrorCode.REQUEST_TIMED_OUT
        return answer

    keys = frozenset((one.partition.topic_id, one.partition.index) for one in left)
    deadline = TimeMs(context.now() + context.state.limits.offset_commit_timeout_ms)
    return PurgatoryWait(keys, deadline, attempt, at_deadline)


def _written(
    marker: _Marker, awaited: list[_Awaited], context: RequestContext
) -> dict[Place, _PartitionResult]:
    return {
        (topic.name, PartitionIndex(index)): _appended(
            marker, topic.name, PartitionIndex(index), awaited, context
        )
        for topic in marker.topics
        for index in topic.partition_indexes
    }


def _has_failed(results: Iterable[_PartitionResult]) -> bool:
    return any(one.error_code == ErrorCode.UNKNOWN_SERVER_ERROR for one in results)


def _all_failed(request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    """A producer that no batch can have is an exception, which fails the whole request.

    Of each producer the last marker is answered (WriteTxnMarkersRequest.getErrorResponse).
    """
    failed = {
        marker.producer_id: {
            (topic.name, PartitionIndex(index)): _failed(index)
            for topic in marker.topics
            for index in topic.partition_indexes
        }
        for marker in request.markers
    }
    return WriteTxnMarkersResponse(
        markers=[
            _Result(producer_id=producer_id, topics=_by_topic(results))
            for producer_id, results in failed.items()
        ]
    )


def _failed(index: int) -> _PartitionResult:
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    return _PartitionResult(partition_index=index, error_code=error)


def _by_topic(written: Mapping[Place, _PartitionResult]) -> list[_TopicResult]:
    topics: dict[str, _TopicResult] = {}
    for (name, _), result in written.items():
        topics.setdefault(name, _TopicResult(name=name)).partitions.append(result)
    return list(topics.values())


def _appended(
    marker: _Marker,
    topic: str,
    index: PartitionIndex,
    awaited: list[_Awaited],
    context: RequestContext,
) -> _PartitionResult:
    result = _PartitionResult(partition_index=index)
    writer = context.state.marker_writer
    partition = writer.partition_at((topic, index))
    if partition is None or not partition.is_here:
        result.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return result
    wanted = WantedMarker(
        ProducerId(marker.producer_id),
        ProducerEpoch(marker.producer_epoch),
        marker.coordinator_epoch,
        aborts=not marker.transaction_result,
        version=marker.transaction_version,
    )
    try:
        context.effects.extend(writer.write(topic, partition, wanted, context.now()))
    except AppendRefused as refused:
        result.error_code = refused.error
    else:
        awaited.append(_Awaited(result, partition, partition.log.end_offset))
    return result


def _unsettled(awaited: list[_Awaited]) -> list[_Awaited]:
    """Return those that still wait for replicas; the others get their result."""
    left = []
    for one in awaited:
        outcome = one.partition.replicated(one.required)
        if outcome is None:
            left.append(one)
        else:
            one.result.error_code = outcome
    return left

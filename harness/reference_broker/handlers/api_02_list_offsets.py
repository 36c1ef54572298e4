"""ListOffsets: API key 2, versions 0 to 11.

Behaviour
- A timestamp finds the first record at that time or later, by record and not by batch; without one
  the offset is -1.
- Consumers find committed records, at the leader alone; replica id -2, for debugging, finds the log
  end at a follower too.
- A new leader that does not know its predecessor's high watermark yet returns an error (KIP-207).
- Messages of magic 0 have no timestamps: on a topic that stores them, only both ends are found.
- A partition that is named twice gets INVALID_REQUEST, except in v0. It is answered once, and a
  topic without partitions not at all; from Kafka 2.7 to 3.9 both are answered as requested. In
  v0 the last values count before 2.7.
- Before Kafka 2.7 an unknown isolation level closes the connection.
- Before Kafka 2.1 a debugger gets REPLICA_NOT_AVAILABLE for a partition that does not exist.
- Before Kafka 4.0 an unknown isolation level is an error of each partition, for consumers only, and
  UNSUPPORTED_VERSION for an unknown timestamp precedes it.

Version notes
- v0   begins of segments and the log end, by the time of their last write, newest first
- v1   one offset, by the records' times (KIP-79)
- v4   leader epochs (KIP-320)
- v7   -3, the largest timestamp (KIP-734)
- v8   -4, the earliest local offset (KIP-405)
- v9   -5, the latest tiered offset (KIP-1005)
- v11  -6, the earliest offset that waits for upload (KIP-1023)

Not done
- Tiered storage: -5 and -6 find nothing.
- No client can begin a transaction; those in logs of other brokers count.
"""

from collections import Counter

from harness.base.ids import Offset
from harness.codec.error_code import ErrorCode
from harness.codec.errors import CodecError
from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from harness.codec.records.compression import CompressionError
from harness.codec.records.walk import BadRecord
from harness.reference_broker.handlers.once_by_topic import once_by_topic
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    Outcome,
    RequestContext,
)
from harness.reference_broker.state.fetch.fetch_plan import find_partition
from harness.reference_broker.state.log.batch_bytes import (
    CorruptBatch,
    InvalidMessage,
    NoSuchPosition,
    UnforeseenBytes,
)
from harness.reference_broker.state.partition.last_stable_offset import last_stable_offset
from harness.reference_broker.state.partition.offset_search import (
    EARLIEST,
    EARLIEST_LOCAL,
    FIRST_VERSION_WITH,
    LATEST,
    NOTHING_FOUND,
    FoundOffset,
    find_offset,
    old_style_offsets,
    record_at,
)
from harness.reference_broker.state.partition.partition import Partition

API_KEY = 2
_FIRST_VERSION_WITH_EPOCH = 4
_NEVER = 2**15
_READ_COMMITTED = 1
_ISOLATION_LEVELS = (0, _READ_COMMITTED)
_EACH_COUNTS_ONCE = (4, 0)  # KAFKA-15859
_GENERATED = (2, 7)  # KAFKA-9627; before, class ListOffsetRequest made maps of the partitions
_PARTITION_IS_MISSED = (2, 1)  # KAFKA-7395; before, class ReplicaManager looks for a replica
_CONSUMER, _DEBUGGING = -1, -2
_NO_EPOCH = -1
_FIRST_VERSION_WITH_NOT_AVAILABLE = 5
_UNKNOWN_IS_REFUSED = (3, 9)  # KAFKA-17331; before, any other number is a time
_Result = ListOffsetsResponse.ListOffsetsPartitionResponse


def handle(request: ListOffsetsRequest, context: RequestContext) -> Outcome:
    """Answer all partitions, by topic."""
    like = context.state.like
    is_generated = like.since(*_GENERATED)
    if not is_generated and request.isolation_level not in _ISOLATION_LEVELS:
        return CloseConnection(f"there is no isolation level {request.isolation_level}")
    if context.api_version == 0:
        return _old_answer(request if is_generated else _each_once(request), context)
    times_named = Counter(
        (topic.name, part.partition_index) for topic in request.topics for part in topic.partitions
    )
    if is_generated and not like.since(*_EACH_COUNTS_ONCE):
        return _answer_as_asked(request, times_named, context)
    if request.isolation_level not in _ISOLATION_LEVELS:
        return _unforeseen(request)
    results: dict[tuple[str, int], _Result] = {}
    for topic in request.topics:
        for part in topic.partitions:
            key = (topic.name, part.partition_index)
            if times_named[key] > 1:
                results[key] = _failed(part.partition_index, ErrorCode.INVALID_REQUEST)
            else:
                results[key] = _find(topic.name, part, request, context)
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


def _each_once(request: ListOffsetsRequest) -> ListOffsetsRequest:
    """Return the request with the last values of each partition, without empty topics."""
    once = once_by_topic(
        ((topic.name, topic.partitions) for topic in request.topics),
        lambda part: part.partition_index,
    )
    made = ListOffsetsRequest.ListOffsetsTopic
    asked = [made(name=name, partitions=parts) for name, parts in once]
    return ListOffsetsRequest(replica_id=request.replica_id, topics=asked)


def _answer_as_asked(
    request: ListOffsetsRequest, times_named: Counter[tuple[str, int]], context: RequestContext
) -> Answer:
    is_foreseen = request.replica_id != _CONSUMER or request.isolation_level in _ISOLATION_LEVELS

    def result(name: str, part: ListOffsetsRequest.ListOffsetsPartition) -> _Result:
        if times_named[name, part.partition_index] > 1:
            return _failed(part.partition_index, ErrorCode.INVALID_REQUEST)
        if _is_refused(part.timestamp, context):
            return _failed(part.partition_index, ErrorCode.UNSUPPORTED_VERSION)
        if not is_foreseen:
            return _failed(part.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR)
        return _find(name, part, request, context)

    topics = [
        ListOffsetsResponse.ListOffsetsTopicResponse(
            name=topic.name, partitions=[result(topic.name, part) for part in topic.partitions]
        )
        for topic in request.topics
    ]
    return Answer(ListOffsetsResponse(topics=topics))


def _unforeseen(request: ListOffsetsRequest) -> Answer:
    """Return UNKNOWN_SERVER_ERROR for every partition, also for a repeated one."""
    topics = [
        ListOffsetsResponse.ListOffsetsTopicResponse(
            name=topic.name,
            partitions=[
                _failed(part.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR)
                for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return Answer(ListOffsetsResponse(topics=topics))


def _find(
    topic: str,
    wanted: ListOffsetsRequest.ListOffsetsPartition,
    request: ListOffsetsRequest,
    context: RequestContext,
) -> _Result:
    """Find an offset, with an error for damage: a clean log is not checked before it is read."""
    try:
        return _look(topic, wanted, request, context)
    except CorruptBatch:
        return _failed(wanted.partition_index, ErrorCode.CORRUPT_MESSAGE)
    except (CompressionError, NoSuchPosition, UnforeseenBytes):  # Kafka foresees none of them
        return _failed(wanted.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR)
    except (BadRecord, CodecError, InvalidMessage):
        return _failed(wanted.partition_index, ErrorCode.INVALID_RECORD)
    except OSError:
        return _failed(wanted.partition_index, ErrorCode.KAFKA_STORAGE_ERROR)


def _look(
    topic: str,
    wanted: ListOffsetsRequest.ListOffsetsPartition,
    request: ListOffsetsRequest,
    context: RequestContext,
) -> _Result:
    index, timestamp, replica_id = wanted.partition_index, wanted.timestamp, request.replica_id
    if _is_refused(timestamp, context):
        return _failed(index, ErrorCode.UNSUPPORTED_VERSION)
    partition = find_partition(context.state.cluster, (topic, index))
    if isinstance(partition, ErrorCode):
        return _failed(index, _missing(partition, replica_id, context))
    error = _problem_with(partition, wanted.current_leader_epoch, replica_id)
    if error is not ErrorCode.NONE:
        return _failed(index, error)
    if replica_id == _CONSUMER and timestamp not in (EARLIEST, EARLIEST_LOCAL):
        late = _late_watermark(partition, context.api_version)
        limit = _limit(partition, request)
        if late is not None and (
            timestamp == LATEST or not 0 <= find_offset(partition, timestamp).offset < limit
        ):
            return _failed(index, late)
    if timestamp not in (EARLIEST, LATEST) and partition.config.message_magic == 0:
        return _failed(index, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
    upto = None if replica_id != _CONSUMER else _limit(partition, request)
    found = _found(partition, timestamp, unknown=_is_unknown(timestamp, context), limit=upto)
    result = _Result(partition_index=index, timestamp=found.timestamp, offset=found.offset)
    if context.api_version >= _FIRST_VERSION_WITH_EPOCH:
        result.leader_epoch = found.leader_epoch
    return result


def _is_unknown(timestamp: int, context: RequestContext) -> bool:
    """True for a negative timestamp that the request's version does not know."""
    return timestamp < 0 and context.api_version < FIRST_VERSION_WITH.get(timestamp, _NEVER)


def _is_refused(timestamp: int, context: RequestContext) -> bool:
    return _is_unknown(timestamp, context) and context.state.like.since(*_UNKNOWN_IS_REFUSED)


def _missing(error: ErrorCode, replica_id: int, context: RequestContext) -> ErrorCode:
    """Return the error for a partition that does not exist."""
    is_replica = replica_id == _DEBUGGING and not context.state.like.since(*_PARTITION_IS_MISSED)
    return ErrorCode.REPLICA_NOT_AVAILABLE if is_replica else error


def _problem_with(partition: Partition, epoch: int, replica_id: int) -> ErrorCode:
    """Return the error of a broker that does not lead; for debugging, followers answer too."""
    if replica_id == _DEBUGGING and partition.is_here:
        return partition.epoch_problem(epoch)
    return partition.leader_problem(epoch)


def _late_watermark(partition: Partition, version: int) -> ErrorCode | None:
    """Return the error of a new leader that does not know the committed offset yet (KIP-207)."""
    leading = partition.leading
    if leading is None or leading.epoch_start <= partition.high_watermark:
        return None
    tells = version >= _FIRST_VERSION_WITH_NOT_AVAILABLE
    return ErrorCode.OFFSET_NOT_AVAILABLE if tells else ErrorCode.LEADER_NOT_AVAILABLE


def _limit(partition: Partition, request: ListOffsetsRequest) -> Offset:
    """Return the offset up to which the consumer reads (lastFetchableOffset)."""
    committed = request.isolation_level == _READ_COMMITTED
    return last_stable_offset(partition) if committed else partition.high_watermark


def _found(
    partition: Partition, timestamp: int, *, unknown: bool, limit: Offset | None
) -> FoundOffset:
    """Find an offset: below the limit for consumers, in the whole log without a limit."""
    if timestamp == LATEST:
        end = partition.log.end_offset if limit is None else limit
        return FoundOffset(end, -1, partition.leader_epoch)
    found = (record_at if unknown else find_offset)(partition, timestamp)
    if limit is None or timestamp in (EARLIEST, EARLIEST_LOCAL):
        return found
    if found.offset >= limit:
        return NOTHING_FOUND
    return found


def _old_answer(request: ListOffsetsRequest, context: RequestContext) -> Answer:
    """Answer topics and partitions as requested, repeated ones too."""
    return Answer(
        ListOffsetsResponse(
            topics=[
                ListOffsetsResponse.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        _old_find(topic.name, part, request.replica_id, context)
                        for part in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )
    )


def _old_find(
    topic: str,
    wanted: ListOffsetsRequest.ListOffsetsPartition,
    replica_id: int,
    context: RequestContext,
) -> _Result:
    index = wanted.partition_index
    if wanted.timestamp < EARLIEST and context.state.like.since(*_UNKNOWN_IS_REFUSED):
        return _failed(index, ErrorCode.UNSUPPORTED_VERSION)
    partition = find_partition(context.state.cluster, (topic, index))
    if isinstance(partition, ErrorCode):
        return _failed(index, _missing(partition, replica_id, context))
    if _problem_with(partition, _NO_EPOCH, replica_id) is not ErrorCode.NONE:
        return _failed(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if wanted.max_num_offsets < 0:
        return _failed(index, ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka does not foresee it
    found = old_style_offsets(partition, wanted.timestamp, wanted.max_num_offsets, context.now())
    if replica_id == _CONSUMER:
        found = _readable(found, partition.high_watermark)
    return _Result(partition_index=index, old_style_offsets=found)


def _readable(offsets: list[int], high_watermark: int) -> list[int]:
    """Return the offsets, newest first; the high watermark replaces those above it."""
    kept = [offset for offset in offsets if offset <= high_watermark]
    return [high_watermark, *kept] if len(kept) < len(offsets) else kept


def _failed(index: int, error: ErrorCode) -> _Result:
    return _Result(partition_index=index, error_code=error, timestamp=-1, offset=-1)

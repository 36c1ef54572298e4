"""Produce: API key 0, versions 0 to 13.

Behaviour
- Each partition has its own result; one that fails does not touch the others.
- acks 0 is never answered; when something failed, the connection is closed instead.
- acks all is answered when all replicas in sync have the batches, and refused where fewer than
  min.insync.replicas are.
- A retry of one of an idempotent producer's last five batches is acknowledged where the first
  copy is.
- Transactional batches of several producers refuse the whole request.
- A client above its quota gets a throttle time and is muted for that time (KIP-13, KIP-219).

Version notes
- v0   message sets, stored as one batch of format 2, or as message.format.version says up to 2.8;
       4.x only advertises v0 to v2
- v1   throttle time
- v2   log append time (KIP-32)
- v3   one batch of format 2 for a partition (KIP-98)
- v7   zstd (KIP-110)
- v8   record errors (KIP-467)
- v10  a broker that does not lead the partition returns its leader (KIP-951)
- v11  TRANSACTION_ABORTABLE instead of INVALID_TXN_STATE (KIP-890)
- v12  a transactional batch adds its partition to the transaction (KIP-890, part 2)
- v13  topic ids instead of names (KIP-516)
"""

from dataclasses import dataclass
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest, ProduceResponse
from harness.codec.records import BatchHeader
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    NoAnswer,
    Outcome,
    RequestContext,
)
from harness.reference_broker.handlers.produced_records import (
    SHAPE_IS_AN_ERROR,
    as_before,
    batches_to_append,
    check_codec,
    check_format,
    is_out_of_shape,
    is_whole,
    records_of,
    version_of_records,
)
from harness.reference_broker.handlers.replicated_answer import AwaitedPartition, replicated_answer
from harness.reference_broker.handlers.transaction_check import (
    Writing,
    after_check,
    check_before,
    note_check,
    problem_with_transaction,
)
from harness.reference_broker.handlers.transactional_writes import (
    are_of_several_producers,
    has_transactional,
    writing_of,
)
from harness.reference_broker.state.broker import BrokerPlace
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.quotas.client_quotas import PRODUCER_BYTE_RATE
from harness.reference_broker.state.topics.topic import TopicState

API_KEY = 0
_FIRST_VERSION_WITH_BATCHES = 3
_FIRST_VERSION_WITH_IDS = 13
_FIRST_VERSION_WITH_LEADER = 10
_ALL = -1
_LEGAL_ACKS = (_ALL, 0, 1)
_VERIFIES_FIRST_SINCE = (3, 6)
"""Since this release a broker verifies a transactional batch before it checks the acks (KIP-890,
ReplicaManager.handleProduceAppend)."""
_PARTITIONS_ARE_LOOKED_FOR = (2, 0)  # class KafkaApis, handleProduceRequest
_TRANSACTIONS_HAVE_AN_ID = (2, 2)  # class KafkaApis, handleProduceRequest
_TOO_FEW_REPLICAS_HIDE_LOG_START = (3, 9)
"""Seen: 2.8.2 returns the log start, 3.9.2 does not. In 2.8 ReplicaManager.appendToLocalLog has no
case of its own for the error."""
_ADMIN_CLIENT = "__admin_client"
_TEXTS = {
    ErrorCode.INVALID_TXN_STATE: "There is no transaction for the partition.",
    ErrorCode.NOT_ENOUGH_REPLICAS: "The coordinator of the transaction did not answer.",
}
_TopicKey = tuple[str, UUID]
_Result = ProduceResponse.PartitionProduceResponse
_Asked = tuple[ProduceRequest, list[AwaitedPartition]]
"""The whole request, and its results that wait for replication."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A partition that a request writes to."""

    topic: TopicState
    partition: Partition


def handle(request: ProduceRequest, context: RequestContext) -> Outcome:
    """Append each valid batch, when the coordinator of a transaction has checked it."""
    writes = _transactional_writes(request, context)
    if are_of_several_producers(writes, context):
        return _all_refused(request, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    check = check_before(writes, context)
    if check is None or request.acks == 0:
        return _produced(request, context)
    partitions = [partition for partition, _ in writes]
    return after_check(
        check, lambda later: _produced(request, later), partitions, request.timeout_ms, context
    )


def _all_refused(request: ProduceRequest, error: ErrorCode) -> Outcome:
    if request.acks == 0:
        return CloseConnection(f"produce without acks failed: {error}")
    responses = [
        ProduceResponse.TopicProduceResponse(
            name=name,
            topic_id=topic_id,
            partition_responses=[_failed(index, error) for index in partitions],
        )
        for (name, topic_id), partitions in _by_topic(request).items()
    ]
    return Answer(ProduceResponse(responses=responses))


def _transactional_writes(
    request: ProduceRequest, context: RequestContext
) -> list[tuple[Partition, Writing]]:
    """Return the partitions that get transactional records of a transactional id."""
    found: list[tuple[Partition, Writing]] = []
    if request.transactional_id is None:
        return found
    for topic, partitions in _by_topic(request).items():
        for index, repeated in partitions.items():
            target = _target(topic, index, context)
            data = [one.records or b"" for one in repeated if is_whole(one, context)][-1:]
            wanted = writing_of(data[0], request.transactional_id, context) if data else None
            if wanted is not None and not isinstance(target, ErrorCode):
                found.append((target.partition, wanted))
    return found


def _produced(request: ProduceRequest, context: RequestContext) -> Outcome:
    """Append each valid batch, in the order of the request."""
    if not context.state.like.since(*SHAPE_IS_AN_ERROR) and is_out_of_shape(request, context):
        return CloseConnection("records that the request cannot hold")
    awaited: list[AwaitedPartition] = []
    wants_id = context.state.like.since(*_TRANSACTIONS_HAVE_AN_ID)
    lacks_transaction = wants_id and request.transactional_id is None and has_transactional(request)
    responses = [
        ProduceResponse.TopicProduceResponse(
            name=name,
            topic_id=topic_id,
            partition_responses=[
                _failed(index, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
                if lacks_transaction
                else _produce_last((name, topic_id), repeated, (request, awaited), context)
                for index, repeated in partitions.items()
            ],
        )
        for (name, topic_id), partitions in _by_topic(request).items()
    ]
    throttle_ms = context.state.client_quotas.used(
        PRODUCER_BYTE_RATE, context.client, context.request_bytes, context.now()
    )
    if request.acks != 0:
        answer = ProduceResponse(responses=responses, throttle_time_ms=throttle_ms)
        _name_leaders(answer, context)
        return replicated_answer(answer, awaited, request.timeout_ms, context)
    failed = [r.error_code for t in responses for r in t.partition_responses if r.error_code]
    if failed:
        return CloseConnection(f"produce without acks failed: {failed}")
    return NoAnswer(throttle_ms)


def _by_topic(
    request: ProduceRequest,
) -> dict[_TopicKey, dict[int, list[ProduceRequest.PartitionProduceData]]]:
    """Return the data of each partition, in order; a topic without partitions is left out."""
    topics: dict[_TopicKey, dict[int, list[ProduceRequest.PartitionProduceData]]] = {}
    for topic in request.topic_data:
        for data in topic.partition_data:
            partitions = topics.setdefault((topic.name, topic.topic_id), {})
            partitions.setdefault(data.index, []).append(data)
    return topics


def _produce_last(
    topic: _TopicKey,
    repeated: list[ProduceRequest.PartitionProduceData],
    asked: _Asked,
    context: RequestContext,
) -> _Result:
    """Append the last data for a partition that are one batch.

    If other data for the partition, but null, are not one batch, their error is returned instead of
    the result of the append. Before version 3, and before Kafka 2.8, only the last data count,
    whatever they are.

    Source: classes KafkaApis (handleProduceRequest), ProduceRequest (validateRecords).
    """
    is_a_map = not context.state.like.since(*SHAPE_IS_AN_ERROR)
    if len(repeated) == 1 or is_a_map or context.api_version < _FIRST_VERSION_WITH_BATCHES:
        return _produce(topic, repeated[-1], asked, context)
    whole = [data for data in repeated if is_whole(data, context)]
    broken = [data for data in repeated if data not in whole and data.records is not None]
    counted = (*whole[-1:], *broken[-1:]) or repeated[-1:]
    return [_produce(topic, data, asked, context) for data in counted][-1]


def _produce(
    topic: _TopicKey,
    data: ProduceRequest.PartitionProduceData,
    asked: _Asked,
    context: RequestContext,
) -> _Result:
    request, awaited = asked
    found = _target(topic, data.index, context)
    if isinstance(found, ErrorCode):
        return _failed(data.index, _missing(found, topic[0], request, context))
    try:
        batch = _checked(data, found, request, context)
        if not batch:
            return _nothing_appended(data.index, found.partition)
        batches = batches_to_append(batch, found.partition.config.compression_type)
        places = [found.partition.append(each, context.now()) for each in batches]
    except AppendRefused as refusal:
        return _refused(data.index, as_before(refusal, context.state.like), found.partition)
    for place in places:
        context.effects.extend(place.effects)
    result = _Result(
        index=data.index,
        base_offset=places[0].base_offset,
        log_append_time_ms=places[-1].append_time,
        log_start_offset=found.partition.log.start_offset,
    )
    if request.acks == _ALL:
        awaited.append(AwaitedPartition(result, found.partition, places[-1].end_offset))
    return result


def _checked(
    data: ProduceRequest.PartitionProduceData,
    target: _Target,
    request: ProduceRequest,
    context: RequestContext,
) -> bytes:
    """Return the records of a request that the partition may take. Raises AppendRefused."""
    if context.api_version < _FIRST_VERSION_WITH_BATCHES:
        # Only the log looks at the records of these versions (class LogValidator).
        _check_place(target, request.acks, context)
    batch = records_of(data, version_of_records(context), context.state.like)
    verifies_first = context.state.like.since(*_VERIFIES_FIRST_SINCE)
    if verifies_first:
        _check_transaction(batch, request.transactional_id, target.partition, context)
    _check_place(target, request.acks, context)
    if batch and not verifies_first:
        _check_transaction(batch, request.transactional_id, target.partition, context)
    if batch:
        limit_bytes = target.partition.config.max_message_bytes
        check_format(batch, limit_bytes, context.state.like)
        check_codec(batch, limit_bytes, context.state.like)
        _check_first_sequence(batch, request.transactional_id, target.partition, context)
    return batch


def _check_place(found: _Target, acks: int, context: RequestContext) -> None:
    if acks not in _LEGAL_ACKS:
        raise AppendRefused(ErrorCode.INVALID_REQUIRED_ACKS)
    if found.topic.is_internal and context.client_id != _ADMIN_CLIENT:
        raise AppendRefused(ErrorCode.INVALID_TOPIC_EXCEPTION)
    _check_leader(found.partition, acks, context)


def _missing(
    error: ErrorCode, name: str, request: ProduceRequest, context: RequestContext
) -> ErrorCode:
    """Return the error for a partition that does not exist: before 2.0 only topics precede acks."""
    topic = context.state.cluster.named(name)
    if topic is None or context.state.like.since(*_PARTITIONS_ARE_LOOKED_FOR):
        return error
    if request.acks not in _LEGAL_ACKS:
        return ErrorCode.INVALID_REQUIRED_ACKS
    is_refused = topic.is_internal and context.client_id != _ADMIN_CLIENT
    return ErrorCode.INVALID_TOPIC_EXCEPTION if is_refused else error


def _check_leader(partition: Partition, acks: int, context: RequestContext) -> None:
    if partition.log.is_offline:
        raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR)
    if partition.leading is None:
        raise AppendRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if acks == _ALL and len(partition.leading.isr) < partition.min_isr:
        is_told = not context.state.like.since(*_TOO_FEW_REPLICAS_HIDE_LOG_START)
        raise AppendRefused(ErrorCode.NOT_ENOUGH_REPLICAS, tells_log_start=is_told)


def _name_leaders(answer: ProduceResponse, context: RequestContext) -> None:
    """Add the leaders of the partitions that this broker does not lead (KIP-951)."""
    if context.api_version < _FIRST_VERSION_WITH_LEADER:
        return
    told: dict[int, BrokerPlace] = {}
    for topic in answer.responses:
        for result in topic.partition_responses:
            if result.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                continue
            found = _target((topic.name, topic.topic_id), result.index, context)
            if isinstance(found, ErrorCode):
                continue
            leader_id = found.partition.registration.leader
            result.current_leader = ProduceResponse.LeaderIdAndEpoch(
                leader_id=leader_id, leader_epoch=found.partition.leader_epoch
            )
            place = context.state.endpoint_of(leader_id, context.listener)
            if place is not None:
                told[leader_id] = place
    answer.node_endpoints = [
        ProduceResponse.NodeEndpoint(node_id=node, host=at.host, port=at.port, rack=at.rack)
        for node, at in told.items()
    ]


def _nothing_appended(index: int, partition: Partition) -> _Result:
    """Return the result for an empty message set, which is no error."""
    return _Result(index=index, base_offset=-1, log_start_offset=partition.log.start_offset)


def _check_transaction(
    batch: bytes, transactional_id: str | None, partition: Partition, context: RequestContext
) -> None:
    """Refuse a transactional batch for a partition that its transaction does not have."""
    wanted = writing_of(batch, transactional_id, context)
    if wanted is None:
        return
    note_check(partition, wanted, BatchHeader.read(batch).base_sequence, context)
    error = problem_with_transaction(partition, wanted, context)
    if error is not ErrorCode.NONE:
        raise AppendRefused(error, _TEXTS.get(error))


def _check_first_sequence(
    batch: bytes, transactional_id: str | None, partition: Partition, context: RequestContext
) -> None:
    """Refuse an unknown producer that does not begin with sequence 0, where records add it.

    Source: class ProducerAppendInfo (checkSequence); KIP-890, part 2.
    """
    wanted = writing_of(batch, transactional_id, context)
    if wanted is None or not wanted.adds:
        return
    known_epoch, _ = partition.producers.epochs_of(wanted.producer.producer_id)
    if known_epoch < 0 and BatchHeader.read(batch).base_sequence != 0:
        raise AppendRefused(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, tells_log_start=True)


def _target(wanted: _TopicKey, index: int, context: RequestContext) -> _Target | ErrorCode:
    name, topic_id = wanted
    by_id = context.api_version >= _FIRST_VERSION_WITH_IDS
    cluster = context.state.cluster
    topic = cluster.with_id(topic_id) if by_id else cluster.named(name)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partition = topic.partition(index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return _Target(topic, partition)


def _failed(index: int, error: ErrorCode) -> _Result:
    return _Result(index=index, error_code=error, base_offset=-1)


def _refused(index: int, refusal: AppendRefused, partition: Partition) -> _Result:
    return _Result(
        index=index,
        error_code=refusal.error,
        base_offset=-1,
        log_start_offset=partition.log.start_offset if refusal.tells_log_start else -1,
        record_errors=[
            ProduceResponse.BatchIndexAndErrorMessage(
                batch_index=problem.batch_index, batch_index_error_message=problem.message
            )
            for problem in refusal.record_problems
        ],
        error_message=refusal.message,
    )

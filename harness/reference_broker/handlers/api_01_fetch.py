"""Fetch: API key 1, versions 0 to 18.

Behaviour
- A fetch waits until min_bytes are readable or max_wait_ms has passed; an error answers at once,
  but a partition that does not exist is answered with the others.
- Partitions are filled in order; the first batch comes whole even when it is larger than every
  limit (KIP-74), the last of each is cut where the limit is.
- An answer has records of one segment of each partition.
- A partition that is named twice counts once, with its last values.
- Batches of a newer format than the version knows are converted, unless the topic forbids it
  (KIP-283).
- Consumers get committed records, from the leader or, from v11 on, from a follower. Followers get
  all records; their fetch offset shows the leader how much they have.
- A topic that the client may not read is TOPIC_AUTHORIZATION_FAILED in each partition, and the
  others are answered.
- Before Kafka 2.7 an unknown isolation level closes the connection; before 2.1 the last stable
  offset is there for read_committed only; before 2.0 a partition that does not exist is an error
  at once if the topic exists.
- A client above its quota gets no records and a throttle time, and is muted for that time; its
  session goes on (KIP-13, KIP-219, KAFKA-6946).

Version notes
- v0   message sets of magic 0, converted from what is stored as in 3.9; limits cut even the first
- v1   throttle time
- v2   message sets of magic 1 (KIP-32)
- v3   a limit for the whole answer; the first batch comes whole (KIP-74)
- v4   record batches as they are stored (KIP-98)
- v5   log start offset (KIP-107)
- v7   fetch sessions (KIP-227)
- v9   current leader epoch, fencing (KIP-320)
- v10  zstd (KIP-110); since 4.0 v4 and up get such batches too, as nothing is converted for them
- v11  the reader's rack, and the replica that is nearer to it (KIP-392)
- v12  last fetched epoch and diverging epoch (KIP-595)
- v13  topic ids instead of names (KIP-516)
- v16  errors about the leader name the current one (KIP-951)

Not done
- Of an answer only the records count against a quota.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from harness.base.ids import FetchSessionId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.reference_broker.handlers.fetch_error import (
    none_aborted,
    records_sent,
    unforeseen_fetch,
)
from harness.reference_broker.handlers.fetch_format import in_format_of
from harness.reference_broker.handlers.fetch_reader import debugs, observes_metadata, readable
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    Outcome,
    PurgatoryWait,
    RequestContext,
)
from harness.reference_broker.handlers.replication_quota import count_replicated, held_from
from harness.reference_broker.handlers.snapshot_instead import set_snapshot_id
from harness.reference_broker.handlers.storage_error import error_for_version
from harness.reference_broker.state.fetch.down_conversion import magic_for
from harness.reference_broker.state.fetch.fetch_plan import (
    FetchLimits,
    FetchPlan,
    PartitionPlan,
    plan_fetch,
)
from harness.reference_broker.state.fetch.fetch_reading import (
    PartitionReading,
    is_complete,
    note_follower,
    read_partitions,
)
from harness.reference_broker.state.fetch.fetch_sessions import (
    FINAL_EPOCH,
    FIRST_EPOCH,
    NO_SESSION,
    FetchKey,
    FetchSession,
    WantedPartition,
)
from harness.reference_broker.state.partition.leading import ANY_EPOCH
from harness.reference_broker.state.quotas.client_quotas import CONSUMER_BYTE_RATE

API_KEY = 1
_FIRST_VERSION_WITH_WHOLE_FIRST_BATCH = 3
_FIRST_VERSION_WITH_RACK = 11
_FIRST_VERSION_WITH_IDS = 13
_FIRST_VERSION_WITH_REPLICA_STATE = 15
_FIRST_VERSION_WITH_LEADER = 16
_LEADER_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
_READ_COMMITTED = 1
_ANYBODY = -1
_ISOLATION_LEVELS = (0, _READ_COMMITTED)
_GENERATED = (2, 7)  # KAFKA-9629; before, class FetchRequest looks at the level
_MIN_BYTES_ARE_CAPPED = (2, 5)  # by max_bytes (KIP-541); seen on 1.1.1
_READS_STOP_EARLY = (2, 4)  # before, a read at its end goes to the segment (class Log, read)
_STABLE_OFFSET_IS_FOR_ALL = (2, 1)  # KAFKA-7395 (class ReplicaManager)
_PARTITIONS_ARE_LOOKED_FOR = (2, 0)  # before, their topics (class KafkaApis, handleFetchRequest)


@dataclass(frozen=True, slots=True)
class _Fetch:
    """One request with its session. `opens_session` requests a new one with the answer."""

    wanted: list[WantedPartition]
    limits: FetchLimits
    session: FetchSession | None
    session_epoch: int
    opens_session: bool
    context: RequestContext


def handle(request: FetchRequest, context: RequestContext) -> Outcome:
    """Answer now if enough is readable, else wait."""
    is_known = request.isolation_level in _ISOLATION_LEVELS
    if not is_known and not context.state.like.since(*_GENERATED):
        return CloseConnection(f"there is no isolation level {request.isolation_level}")
    fetch = _resolve(request, context)
    if isinstance(fetch, ErrorCode):
        return Answer(FetchResponse(error_code=fetch, session_id=NO_SESSION))
    plan = _plan(fetch)
    if not is_known and plan.found:
        return Answer(unforeseen_fetch(request, context))
    readings = read_partitions(plan, zero_copy=magic_for(context.api_version) is None)
    if fetch.limits.from_replica:
        context.effects.extend(note_follower(plan, readings))
    if request.max_wait_ms > 0:
        found, missing = plan.found, plan.missing
        if found and not is_complete(readings, fetch.limits, missing):
            deadline = TimeMs(context.now() + request.max_wait_ms)
            return PurgatoryWait(found, deadline, *_attempts(fetch, missing))
    return Answer(_response(fetch, plan, readings))


def _plan(fetch: _Fetch) -> FetchPlan:
    context = fetch.context
    return plan_fetch(context.state.cluster, fetch.wanted, fetch.limits, context.now())


def _attempts(
    fetch: _Fetch, missing: frozenset[FetchKey]
) -> tuple[Callable[[], FetchResponse | None], Callable[[], FetchResponse]]:
    """Return the attempt of a fetch that waits, and the last one at its deadline.

    `missing` are the partitions that did not exist when it arrived. Each attempt makes a plan of
    its own, since the state has changed. It borrows no buffers: its response is sent later than
    read.
    """
    state = fetch.context.state

    def answer(plan: FetchPlan, readings: list[PartitionReading]) -> FetchResponse:
        if fetch.limits.from_replica:
            state.effects += note_follower(plan, readings)
        return _response(fetch, plan, readings)

    def attempt() -> FetchResponse | None:
        plan = _plan(fetch)
        readings = read_partitions(plan)
        is_over = is_complete(readings, plan.limits, missing)
        return answer(plan, readings) if is_over else None

    def at_deadline() -> FetchResponse:
        plan = _plan(fetch)
        return answer(plan, read_partitions(plan))

    return attempt, at_deadline


def _resolve(request: FetchRequest, context: RequestContext) -> _Fetch | ErrorCode:
    version, sessions = context.api_version, context.state.fetch_sessions
    by_id = version >= _FIRST_VERSION_WITH_IDS
    wanted = _wanted_of(request, by_id, context)
    session = None
    session_id = FetchSessionId(request.session_id)
    if request.session_epoch in (FIRST_EPOCH, FINAL_EPOCH):
        sessions.close(session_id)
    else:
        resumed = sessions.resume(session_id, request.session_epoch, by_id, context.now())
        if isinstance(resumed, ErrorCode):
            return resumed
        forgotten = _forgotten_of(request, by_id)
        if not sessions.update(resumed, wanted, forgotten, context.now()):
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND  # it begins with a full fetch again
        if resumed.partitions:
            session, wanted = resumed, resumed.wanted()
        else:
            sessions.close(session_id)
    max_bytes = min(request.max_bytes, context.state.limits.fetch_max_bytes)
    quota_bytes = context.state.client_quotas.most_bytes(CONSUMER_BYTE_RATE, context.client)
    max_bytes = max_bytes if quota_bytes is None else min(max_bytes, quota_bytes)
    state = request.replica_state
    says_state = version >= _FIRST_VERSION_WITH_REPLICA_STATE
    is_capped = context.state.like.since(*_MIN_BYTES_ARE_CAPPED)
    observes = observes_metadata(wanted, context)
    asks = state.replica_id if says_state else request.replica_id
    return _Fetch(
        wanted,
        FetchLimits(
            min(request.min_bytes, max_bytes) if is_capped else request.min_bytes,
            max_bytes,
            replica_id=_ANYBODY if observes else asks,
            broker_epoch=state.replica_epoch if says_state else ANY_EPOCH,
            may_follow=version >= _FIRST_VERSION_WITH_RACK or debugs(asks, context),
            rack=request.rack_id if version >= _FIRST_VERSION_WITH_RACK else "",
            is_hard=version < _FIRST_VERSION_WITH_WHOLE_FIRST_BATCH,
            read_committed=request.isolation_level == _READ_COMMITTED,
            misses_topics_only=not context.state.like.since(*_PARTITIONS_ARE_LOOKED_FOR),
            reads_to_end=not context.state.like.since(*_READS_STOP_EARLY),
            may_read=readable(asks, context),
            is_held=held_from(asks, context),
        ),
        session,
        0 if session is None else session.epoch,
        request.session_epoch == FIRST_EPOCH,
        context,
    )


def _wanted_of(
    request: FetchRequest, by_id: bool, context: RequestContext
) -> list[WantedPartition]:
    wanted: dict[FetchKey, WantedPartition] = {}
    for topic in request.topics:
        known = context.state.cluster.with_id(topic.topic_id) if by_id else None
        for part in topic.partitions:
            key = (topic.topic_id if by_id else topic.topic, part.partition)
            wanted[key] = WantedPartition(
                key,
                part.fetch_offset,
                part.partition_max_bytes,
                part.current_leader_epoch,
                part.last_fetched_epoch,
                None if known is None else known.name,
                part.log_start_offset,
            )
    return list(wanted.values())


def _forgotten_of(request: FetchRequest, by_id: bool) -> list[FetchKey]:
    return [
        (topic.topic_id if by_id else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]


def _response(fetch: _Fetch, plan: FetchPlan, readings: list[PartitionReading]) -> FetchResponse:
    session = fetch.session
    throttle_ms = _throttle_ms(fetch, plan, readings)
    if throttle_ms > 0 and _is_in_step(fetch):
        return FetchResponse(
            throttle_time_ms=throttle_ms,
            session_id=NO_SESSION if session is None else session.session_id,
        )
    if session is None and fetch.opens_session:
        session = fetch.context.state.fetch_sessions.create(
            fetch.wanted,
            fetch.context.api_version >= _FIRST_VERSION_WITH_IDS,
            fetch.context.now(),
            fetch.context.randomness,
            privileged=fetch.limits.from_replica,
        )
    if fetch.session is not None and not _is_in_step(fetch):
        return FetchResponse(
            error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=fetch.session.session_id
        )
    if session is not None:
        news = [reading for reading in readings if _note(session, reading)]
        readings = news if fetch.session is not None else readings
    response = FetchResponse(session_id=NO_SESSION if session is None else session.session_id)
    like = fetch.context.state.like
    for reading in in_format_of(fetch.context.api_version, plan, readings, like):
        _add(response, reading, plan, fetch)
    return response


def _is_in_step(fetch: _Fetch) -> bool:
    """True if no other request advanced the session while this one waited."""
    return fetch.session is None or fetch.session.epoch == fetch.session_epoch


def _throttle_ms(fetch: _Fetch, plan: FetchPlan, readings: list[PartitionReading]) -> int:
    """Return the throttle time in ms for these readings. Withheld records do not count."""
    if fetch.limits.from_replica:
        count_replicated(plan, readings, fetch.context)
        return 0
    quotas, now = fetch.context.state.client_quotas, fetch.context.now()
    size_bytes = sum(len(reading.records or b"") for reading in readings)
    client = fetch.context.client
    throttle_ms = quotas.used(CONSUMER_BYTE_RATE, client, size_bytes, now)
    if throttle_ms > 0:
        quotas.used(CONSUMER_BYTE_RATE, client, -size_bytes, now)
    return throttle_ms


def _note(session: FetchSession, reading: PartitionReading) -> bool:
    news = session.note_answer(
        reading.key,
        reading.error,
        reading.high_watermark,
        reading.log_start_offset,
        bool(reading.records),
    )
    return news or reading.diverging is not None or reading.preferred is not None


def _add(
    response: FetchResponse, reading: PartitionReading, plan: FetchPlan, fetch: _Fetch
) -> None:
    named, index = reading.key
    was_read = reading.error is ErrorCode.NONE and reading.diverging is None
    like, committed = fetch.context.state.like, plan.limits.read_committed
    lists_aborted, made = committed and was_read, FetchResponse.AbortedTransaction
    has_stable = committed or like.since(*_STABLE_OFFSET_IS_FOR_ALL)
    aborted = [
        made(producer_id=a.producer_id, first_offset=a.first_offset) for a in reading.aborted
    ]
    unread = none_aborted(like) if reading.is_missing else None
    part = FetchResponse.PartitionData(
        partition_index=index,
        error_code=reading.error,
        high_watermark=reading.high_watermark,
        last_stable_offset=reading.last_stable_offset if has_stable else -1,
        log_start_offset=reading.log_start_offset,
        aborted_transactions=aborted if lists_aborted else unread,
        records=records_sent(reading, fetch.context),
    )
    if reading.diverging is not None:
        part.diverging_epoch = FetchResponse.EpochEndOffset(
            epoch=reading.diverging.epoch, end_offset=reading.diverging.end_offset
        )
    if reading.preferred is not None:
        part.preferred_read_replica = reading.preferred
    version = fetch.context.api_version
    part.error_code = error_for_version(reading.error, version)
    set_snapshot_id(part, reading, fetch.context)
    if version >= _FIRST_VERSION_WITH_LEADER and reading.error in _LEADER_ERRORS:
        _name_leader(part, response, plan.partitions[reading.key], fetch.context)
    topics = response.responses
    if topics and named in (topics[-1].topic_id, topics[-1].topic):
        topics[-1].partitions.append(part)
    elif isinstance(named, UUID):
        topics.append(FetchResponse.FetchableTopicResponse(topic_id=named, partitions=[part]))
    else:
        topics.append(FetchResponse.FetchableTopicResponse(topic=named, partitions=[part]))


def _name_leader(
    part: FetchResponse.PartitionData,
    response: FetchResponse,
    planned: PartitionPlan,
    context: RequestContext,
) -> None:
    """Add the current leader to an error about the leader (KIP-951)."""
    partition = planned.partition
    assert partition is not None
    leader_id = partition.registration.leader
    part.current_leader = FetchResponse.LeaderIdAndEpoch(
        leader_id=leader_id, leader_epoch=partition.leader_epoch
    )
    endpoint = context.state.endpoint_of(leader_id, context.listener)
    told = {known.node_id for known in response.node_endpoints}
    if endpoint is not None and leader_id not in told:
        made = FetchResponse.NodeEndpoint(
            node_id=leader_id, host=endpoint.host, port=endpoint.port, rack=endpoint.rack
        )
        response.node_endpoints.append(made)

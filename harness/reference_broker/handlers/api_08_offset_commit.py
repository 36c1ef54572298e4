"""OffsetCommit: API key 8, versions 2 to 10.

Behaviour
- Errors are per partition. Errors of topics and partitions come first, then errors of the group.
- An existing topic that is named without partitions is not answered; before Kafka 3.5 neither is an
  unknown topic without partitions.
- A partition that is named twice is answered twice, but once before Kafka 4.0: the last counts.
- A commit without a generation is accepted while the group has no members; it creates the group,
  even if nothing is stored.
- A member's commit prolongs its session.
- A commit that is too large for the internal topic is UNKNOWN_SERVER_ERROR, as in Kafka since 4.0.
- Before the internal topic of the groups exists, this broker is no coordinator.

Version notes
- v0   offsets have a place of their own, ZooKeeper, and neither metadata nor an end;
       UNSUPPORTED_VERSION without it
- v1   generation and member; when each commit was made, from which its retention counts
- v2   retention_time_ms, to v4
- v6   leader epochs (KIP-320)
- v7   group_instance_id (KIP-345)
- v9   GROUP_ID_NOT_FOUND instead of ILLEGAL_GENERATION for an unknown group (KIP-848)
- v10  topic ids instead of names

Not done
- Groups of the consumer protocol: there are no member epochs.
"""

from collections.abc import Sequence

from harness.base.ids import LeaderEpoch, MemberId, Offset, PartitionIndex, TimeMs
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetCommitRequest, OffsetCommitResponse
from harness.reference_broker.handlers.committed_topics import CommitForms, CommittedTopics
from harness.reference_broker.handlers.group_coordinator import (
    answer_when_kept,
    can_keep,
    problem_with_coordinator,
)
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.state.broker import GROUPS_KEEP_OFFSETS, BrokerState
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_offsets import problem_with_commit
from harness.reference_broker.state.groups.group_phases import renew_session
from harness.reference_broker.state.groups.group_states import GroupState

API_KEY = 8
_FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND = 9
_MEMBER_IS_FIRST = (2, 4)  # before, the group's state (class GroupCoordinator, doCommitOffsets)
_GROUP_ID_NOT_FOUND_SINCE = (4, 0)  # by the coordinator of KIP-848
_BROKERS_RETENTION, _NOW = -1, -1
_ASIDE = 0
_STATES_THAT_HEAR = (GroupState.STABLE, GroupState.PREPARING_REBALANCE)
_Partition = OffsetCommitRequest.OffsetCommitRequestPartition
_TopicResult = OffsetCommitResponse.OffsetCommitResponseTopic
_Result = OffsetCommitResponse.OffsetCommitResponsePartition
_FORMS = CommitForms(_TopicResult, _Result, first_by_id=10)


def handle(request: OffsetCommitRequest, context: RequestContext) -> Outcome:
    """Store what can be stored; the group is checked if some partition exists."""
    topics = CommittedTopics(request.topics, _FORMS, context)
    if topics.known and context.api_version == _ASIDE and not context.state.like.has_zookeeper:
        return Answer(_unsupported(request))
    asked = [
        ((topic.name, PartitionIndex(part.partition_index)), part)
        for topic, _, parts in topics.known
        for part in parts
    ]
    results, committed = topics.answered(_codes_of(asked, request, context))
    return _answered_when_kept(request.group_id, results, committed, context)


def _answered_when_kept(
    group_id: str,
    topics: list[_TopicResult],
    committed: list[_Result],
    context: RequestContext,
) -> Outcome:
    """Answer when the stored offsets are replicated, or now if none was stored."""
    answer = OffsetCommitResponse(topics=topics)
    kept = [one for one in committed if not one.error_code]
    if not kept:
        return Answer(answer)

    def refuse(error: ErrorCode) -> OffsetCommitResponse:
        for result in kept:
            result.error_code = error
        return answer

    return answer_when_kept(group_id, answer, refuse, context)


def _unsupported(request: OffsetCommitRequest) -> OffsetCommitResponse:
    error = ErrorCode.UNSUPPORTED_VERSION
    topics = [
        _TopicResult(
            name=wanted.name, partitions=[_result(part, error) for part in wanted.partitions]
        )
        for wanted in request.topics
    ]
    return OffsetCommitResponse(topics=topics)


def _result(part: _Partition, error: ErrorCode) -> _Result:
    return _Result(partition_index=part.partition_index, error_code=error)


def _codes_of(
    asked: Sequence[tuple[Place, _Partition]], request: OffsetCommitRequest, context: RequestContext
) -> list[ErrorCode]:
    """Commit what can be committed; return the error of each partition."""
    committed = context.state.committed_offsets
    metadata = (part.committed_metadata for _, part in asked)
    if asked and not committed.has_room_for(request.group_id, metadata, context.now()):
        return [ErrorCode.COORDINATOR_NOT_AVAILABLE] * len(asked)
    commit = _commit_aside if context.api_version == _ASIDE else _commit
    return commit(asked, request, context)


def _commit_aside(
    asked: Sequence[tuple[Place, _Partition]], request: OffsetCommitRequest, context: RequestContext
) -> list[ErrorCode]:
    """Commit for any group: ZooKeeper has no coordinator."""
    committed, codes = context.state.committed_offsets, []
    for place, part in asked:
        if committed.takes_metadata(part.committed_metadata):
            committed.commit_aside(request.group_id, place, Offset(part.committed_offset))
            codes.append(ErrorCode.NONE)
        else:
            codes.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
    return codes


def _commit(
    asked: Sequence[tuple[Place, _Partition]], request: OffsetCommitRequest, context: RequestContext
) -> list[ErrorCode]:
    """Commit as the coordinator; return the error of each of these partitions, which exist."""
    if not asked:
        return []
    problem = _problem_with_group(request, context)
    if problem is not ErrorCode.NONE:
        return [problem] * len(asked)
    _hear_of_member(request, context)
    state, now = context.state, context.now()
    state.groups.find_or_create(request.group_id, now)
    codes = [
        ErrorCode.NONE
        if state.committed_offsets.takes_metadata(part.committed_metadata)
        else ErrorCode.OFFSET_METADATA_TOO_LARGE
        for _, part in asked
    ]
    commits = [
        (place, _committed(place, part, request.retention_time_ms, state, now))
        for (place, part), code in zip(asked, codes, strict=True)
        if code is ErrorCode.NONE
    ]
    if not state.committed_offsets.commit(request.group_id, commits, now):
        state.groups.revert(request.group_id)
        return [ErrorCode.UNKNOWN_SERVER_ERROR] * len(asked)
    return codes


def _problem_with_group(request: OffsetCommitRequest, context: RequestContext) -> ErrorCode:
    error = problem_with_coordinator(request.group_id, context)
    if error is not ErrorCode.NONE:
        return error
    if not can_keep(request.group_id, context):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    generation = request.generation_id_or_member_epoch
    group = context.state.groups.find(request.group_id)
    if group is not None:
        return _problem_in(group, request, context)
    if generation < 0:
        has_room = context.state.groups.has_room_for(request.group_id, context.now())
        return ErrorCode.NONE if has_room else ErrorCode.COORDINATOR_NOT_AVAILABLE
    is_told = context.state.like.since(*_GROUP_ID_NOT_FOUND_SINCE)
    if is_told and context.api_version >= _FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND:
        return ErrorCode.GROUP_ID_NOT_FOUND
    return ErrorCode.ILLEGAL_GENERATION


def _problem_in(group: Group, request: OffsetCommitRequest, context: RequestContext) -> ErrorCode:
    is_waiting = group.state is GroupState.COMPLETING_REBALANCE
    if is_waiting and not context.state.like.since(*_MEMBER_IS_FIRST):
        return ErrorCode.REBALANCE_IN_PROGRESS
    instance_id = context.state.groups.instance_to_check(group, request.group_instance_id)
    generation = request.generation_id_or_member_epoch
    return problem_with_commit(group, request.member_id, generation, instance_id)


def _hear_of_member(request: OffsetCommitRequest, context: RequestContext) -> None:
    groups = context.state.groups
    group = groups.find(request.group_id)
    member = group and group.members.get(MemberId(request.member_id))
    if group and member and group.state in _STATES_THAT_HEAR:
        renew_session(groups, group, member, context.now())


def _committed(
    place: Place, part: _Partition, retention_ms: int, state: BrokerState, now: TimeMs
) -> CommittedOffset:
    topic = state.cluster.named(place[0])
    said_at = now if part.commit_timestamp == _NOW else TimeMs(part.commit_timestamp)
    return CommittedOffset(
        Offset(part.committed_offset),
        LeaderEpoch(part.committed_leader_epoch),
        part.committed_metadata or "",
        committed_at=said_at if state.like.since(*GROUPS_KEEP_OFFSETS) else now,
        expires_at=_expiry(said_at, retention_ms, state),
        topic_id=ZERO_UUID if topic is None else topic.topic_id,
    )


def _expiry(said_at: TimeMs, retention_ms: int, state: BrokerState) -> TimeMs | None:
    """Return the expiry that the commit sets itself, as every commit did in earlier releases."""
    if retention_ms == _BROKERS_RETENTION:
        if state.like.since(*GROUPS_KEEP_OFFSETS):
            return None
        retention_ms = state.committed_offsets.retention_ms
    return TimeMs(said_at + retention_ms)

"""TxnOffsetCommit: API key 28, versions 0 to 6.

Behaviour
- Errors are per partition. Errors of topics and partitions come first, then errors of the group.
- Topics without partitions, and what is named twice, are answered as by OffsetCommit.
- The offsets become visible when the transaction is committed.
- The transaction must have the partition of the group's offsets (since Kafka 3.7, KIP-890).
- A commit without a generation is accepted whatever members the group has.

Version notes
- v2   leader epochs (KIP-320)
- v3   generation, member and instance are checked (KIP-447)
- v4   TRANSACTION_ABORTABLE instead of INVALID_TXN_STATE (KIP-890)
- v5   the transaction gets the partition by this request (KIP-890, part 2)
- v6   topic ids instead of names

Not done
- Groups of the consumer protocol: there are no member epochs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.base.ids import GroupId, LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from harness.reference_broker.handlers.committed_topics import CommitForms, CommittedTopics
from harness.reference_broker.handlers.group_coordinator import (
    answer_when_kept,
    can_keep,
    problem_with_group,
)
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.transaction_check import (
    Writing,
    after_check,
    check_before,
    problem_with_transaction,
)
from harness.reference_broker.handlers.transaction_coordinator import identity_of
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_offsets import (
    problem_with_commit,
    problem_with_early_commit,
)
from harness.reference_broker.state.groups.group_records import Commits
from harness.reference_broker.state.topics.topic import TopicState

API_KEY = 28
_FIRST_VERSION_WITH_ABORTABLE = 4
_FIRST_VERSION_THAT_ADDS = 5
_TRANSACTION_IS_VERIFIED = (3, 7)  # class GroupMetadataManager (storeOffsets)
_ALL_IS_CHECKED = (3, 0)  # class GroupCoordinator (validateOffsetCommit)
_ALL_ARE_FAILED = (2, 4)  # class TxnOffsetCommitRequest (getErrorResponse)
_GROUP_MUST_EXIST = (4, 0)  # class OffsetMetadataManager
_Partition = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition
_TopicResult = TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic
_Result = TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition
_NO_PRODUCER = -1  # class GroupMetadataManager (storeOffsets)
_FORMS = CommitForms(_TopicResult, _Result, first_by_id=6)
_OF_COORDINATOR = {
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
}


class _Asked(NamedTuple):
    """A partition that exists."""

    place: Place
    topic: TopicState
    wanted: _Partition


def handle(request: TxnOffsetCommitRequest, context: RequestContext) -> Outcome:
    """Store the offsets, when the coordinator of the transaction has checked it."""
    partition = context.state.group_log.partition_of(request.group_id)
    if partition is None or not context.state.like.since(*_TRANSACTION_IS_VERIFIED):
        return _stored(request, context)
    check = check_before([(partition, _writing(request, context))], context)
    if check is None:
        return _stored(request, context)
    timeout_ms = context.state.limits.offset_commit_timeout_ms
    return after_check(
        check, lambda later: _stored(request, later), [partition], timeout_ms, context
    )


def _stored(request: TxnOffsetCommitRequest, context: RequestContext) -> Outcome:
    """Store the offsets of partitions that exist as a part of the transaction."""
    topics = CommittedTopics(request.topics, _FORMS, context)
    asked = [
        _Asked((topic.name, PartitionIndex(part.partition_index)), topic, part)
        for topic, _, parts in topics.known
        for part in parts
    ]
    codes = _codes_of(request, asked, context) if asked else []
    results, committed = topics.answered(codes)
    if _is_unforeseen(request, codes, context):
        return Answer(TxnOffsetCommitResponse(topics=_failed(request, results, context)))
    answer = TxnOffsetCommitResponse(topics=results)
    kept = [one for one in committed if not one.error_code]
    if not kept:
        return Answer(answer)

    def refuse(error: ErrorCode) -> TxnOffsetCommitResponse:
        for one in kept:
            one.error_code = error
        return answer

    return answer_when_kept(request.group_id, answer, refuse, context)


def _is_unforeseen(
    request: TxnOffsetCommitRequest, codes: Sequence[ErrorCode], context: RequestContext
) -> bool:
    """True if the whole request fails: before 3.7 a producer without an epoch is an exception."""
    return (
        not context.state.like.since(*_TRANSACTION_IS_VERIFIED)
        and request.producer_epoch == _NO_PRODUCER
        and ErrorCode.UNKNOWN_SERVER_ERROR in codes
    )


def _failed(
    request: TxnOffsetCommitRequest, results: list[_TopicResult], context: RequestContext
) -> list[_TopicResult]:
    """Return the results of a request that fails as a whole; since 2.4 all that it names."""
    if context.state.like.since(*_ALL_ARE_FAILED):
        results = [
            _TopicResult(
                name=topic.name,
                partitions=[
                    _Result(partition_index=one.partition_index) for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    for topic in results:
        for part in topic.partitions:
            part.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
    return results


def _codes_of(
    request: TxnOffsetCommitRequest, asked: Sequence[_Asked], context: RequestContext
) -> list[ErrorCode]:
    """Commit what can be committed; return the error of each partition."""
    error = _problem(request, context)
    if error is not ErrorCode.NONE:
        return [error] * len(asked)
    return _commit(request, asked, context)


def _problem(request: TxnOffsetCommitRequest, context: RequestContext) -> ErrorCode:
    """Return the error of the group, its coordinator, the transaction, or the member."""
    error = problem_with_group(request.group_id, context)
    if error is not ErrorCode.NONE:
        return error
    if context.state.like.since(*_TRANSACTION_IS_VERIFIED):
        error = _problem_with_transaction(request, context)
        if error is not ErrorCode.NONE:
            return error
    if not can_keep(request.group_id, context):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return _problem_with_member(request, context)


def _problem_with_transaction(
    request: TxnOffsetCommitRequest, context: RequestContext
) -> ErrorCode:
    partition = context.state.group_log.partition_of(request.group_id)
    if partition is None:
        return ErrorCode.NOT_COORDINATOR
    error = problem_with_transaction(partition, _writing(request, context), context)
    return _OF_COORDINATOR.get(error, error)


def _writing(request: TxnOffsetCommitRequest, context: RequestContext) -> Writing:
    return Writing(
        request.transactional_id,
        identity_of(request.producer_id, request.producer_epoch),
        adds=context.api_version >= _FIRST_VERSION_THAT_ADDS,
        is_abortable=context.api_version >= _FIRST_VERSION_WITH_ABORTABLE,
    )


def _problem_with_member(request: TxnOffsetCommitRequest, context: RequestContext) -> ErrorCode:
    groups, generation = context.state.groups, request.generation_id_or_member_epoch
    like, now = context.state.like, context.now()
    group = groups.find(request.group_id)
    if group is None:
        if not groups.has_room_for(request.group_id, now):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if generation >= 0 and like.since(*_GROUP_MUST_EXIST):
            return ErrorCode.ILLEGAL_GENERATION
        group = Group(GroupId(request.group_id), now)
    member_id, instance_id = request.member_id, request.group_instance_id
    if not like.since(*_ALL_IS_CHECKED):
        return problem_with_early_commit(group, member_id, generation, instance_id)
    return problem_with_commit(group, member_id, generation, instance_id, in_transaction=True)


def _commit(
    request: TxnOffsetCommitRequest, asked: Sequence[_Asked], context: RequestContext
) -> list[ErrorCode]:
    """Store what can be stored."""
    state, now, group_id = context.state, context.now(), request.group_id
    offsets = state.committed_offsets
    metadata = [one.wanted.committed_metadata for one in asked]
    if not offsets.has_room_for(group_id, metadata, now):
        return [ErrorCode.COORDINATOR_NOT_AVAILABLE] * len(asked)
    state.groups.find_or_create(group_id, now)
    codes = [
        ErrorCode.NONE if offsets.takes_metadata(one) else ErrorCode.OFFSET_METADATA_TOO_LARGE
        for one in metadata
    ]
    commits = [
        (one.place, _committed(one, now))
        for one, code in zip(asked, codes, strict=True)
        if code is ErrorCode.NONE
    ]
    error = _keep(request, commits, context)
    if error is ErrorCode.NONE:
        return codes
    state.groups.revert(group_id)
    return [error] * len(asked)


def _keep(request: TxnOffsetCommitRequest, commits: Commits, context: RequestContext) -> ErrorCode:
    """Store the offsets; without a producer, which the check refuses later, as by OffsetCommit."""
    offsets, group_id, now = context.state.committed_offsets, request.group_id, context.now()
    is_plain = request.producer_id == _NO_PRODUCER
    if is_plain and not context.state.like.since(*_TRANSACTION_IS_VERIFIED):
        is_kept = offsets.commit(group_id, commits, now)
        return ErrorCode.NONE if is_kept else ErrorCode.UNKNOWN_SERVER_ERROR
    producer = identity_of(request.producer_id, request.producer_epoch)
    return offsets.commit_in_transaction(group_id, commits, producer, now)


def _committed(one: _Asked, now: TimeMs) -> CommittedOffset:
    return CommittedOffset(
        Offset(one.wanted.committed_offset),
        LeaderEpoch(one.wanted.committed_leader_epoch),
        one.wanted.committed_metadata or "",
        committed_at=now,
        topic_id=one.topic.topic_id,
    )

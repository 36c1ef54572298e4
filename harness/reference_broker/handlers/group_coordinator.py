"""The common part of all requests to a group coordinator."""

from collections.abc import Callable
from typing import TypeVar

from harness.base.ids import GroupId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.reference_broker.effects import GroupMoved
from harness.reference_broker.handlers.outcome import Answer, PurgatoryWait, RequestContext
from harness.reference_broker.state.groups.group_member import Parked

MISSING_TOPICS_ARE_ANSWERED = (3, 5)  # KAFKA-14462
EACH_IS_ANSWERED = (4, 0)  # what is named twice, by the coordinator of KIP-848

IDS_ARE_CHECKED = (2, 0)  # class GroupCoordinator, validateGroupStatus

T = TypeVar("T")


def problem_with_group(group_id: str, context: RequestContext) -> ErrorCode:
    """Return the error of an empty group id, or of a broker that is not the group's coordinator.

    Before Kafka 2.0 only JoinGroup and DeleteGroups refuse an empty group id.
    """
    if not group_id and context.state.like.since(*IDS_ARE_CHECKED):
        return ErrorCode.INVALID_GROUP_ID
    return problem_with_coordinator(group_id, context)


def problem_with_coordinator(group_id: str, context: RequestContext) -> ErrorCode:
    """Return NOT_COORDINATOR unless the broker leads the group's __consumer_offsets partition."""
    partition = context.state.group_log.partition_of(group_id)
    is_here = partition is not None and partition.leading is not None
    return ErrorCode.NONE if is_here else ErrorCode.NOT_COORDINATOR


def can_keep(group_id: str, context: RequestContext) -> bool:
    """True if enough replicas of the group's partition are in sync for a new record."""
    partition = context.state.group_log.partition_of(group_id)
    if partition is None or partition.leading is None:
        return False
    return len(partition.leading.isr) >= partition.min_isr


def answer_when_kept(
    group_id: str, answer: Message, refuse: Callable[[ErrorCode], Message], context: RequestContext
) -> Answer | PurgatoryWait:
    """Answer when all replicas in sync have the group's records.

    The error is COORDINATOR_NOT_AVAILABLE after the timeout, NOT_COORDINATOR under another leader.
    """
    partition = context.state.group_log.partition_of(group_id)
    if partition is None:
        return Answer(answer)
    required = partition.log.end_offset

    def attempt() -> Message | None:
        outcome = partition.replicated(required)
        if outcome is None or outcome is ErrorCode.NONE:
            return None if outcome is None else answer
        return refuse(coordinator_error(outcome))

    now = attempt()
    if now is not None:
        return Answer(now)
    return PurgatoryWait(
        frozenset({(partition.topic_id, partition.index)}),
        TimeMs(context.now() + context.state.limits.offset_commit_timeout_ms),
        attempt,
        lambda: refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE),
    )


def coordinator_error(outcome: ErrorCode) -> ErrorCode:
    """Return the coordinator's error for one of its log."""
    is_elsewhere = outcome is ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NOT_COORDINATOR if is_elsewhere else ErrorCode.COORDINATOR_NOT_AVAILABLE


def answer_parked(
    group_id: str, parked: Parked[T], say: Callable[[T], Message], context: RequestContext
) -> Answer | PurgatoryWait:
    """Answer when the outcome is there. Other members of the group may have theirs by now."""
    context.effects.append(GroupMoved(GroupId(group_id)))

    def attempt() -> Message | None:
        return None if parked.outcome is None else say(parked.outcome)

    if parked.outcome is not None:
        return Answer(say(parked.outcome))
    return PurgatoryWait(frozenset({GroupId(group_id)}), None, attempt, None)

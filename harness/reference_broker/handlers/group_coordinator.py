"""What all requests to a group's coordinator have in common."""

from collections.abc import Callable
from typing import TypeVar

from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.ids import GroupId
from harness.reference_broker.effects import GroupMoved
from harness.reference_broker.handlers.outcome import Answer, RequestContext, Wait
from harness.reference_broker.state.group_member import Parked

MISSING_TOPICS_ARE_ANSWERED = (3, 5)  # KAFKA-14462
EACH_IS_ANSWERED = (4, 0)  # what is named twice, by the coordinator of KIP-848

T = TypeVar("T")


def problem_with_group(group_id: str, context: RequestContext) -> ErrorCode:
    """An empty name is none; before the groups' internal topic exists this is no coordinator."""
    return problem_with_coordinator(group_id, context) if group_id else ErrorCode.INVALID_GROUP_ID


def problem_with_coordinator(group_id: str, context: RequestContext) -> ErrorCode:
    """NOT_COORDINATOR unless the broker leads the group's partition of the internal topic."""
    partition = context.state.group_log.partition_of(group_id)
    is_here = partition is not None and partition.leading is not None
    return ErrorCode.NONE if is_here else ErrorCode.NOT_COORDINATOR


def answer_parked(
    group_id: str, parked: Parked[T], say: Callable[[T], Message], context: RequestContext
) -> Answer | Wait:
    """Answer when the outcome is there. Others in the group may have theirs by now."""
    context.effects.append(GroupMoved(GroupId(group_id)))

    def attempt() -> Message | None:
        return None if parked.outcome is None else say(parked.outcome)

    if parked.outcome is not None:
        return Answer(say(parked.outcome))
    return Wait(frozenset({GroupId(group_id)}), None, attempt, None)

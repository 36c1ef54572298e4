"""Rules for a group's offsets that depend on its members: commit, deletion, expiration.

Source: class ClassicGroup (validateOffsetCommit, validateOffsetDelete, isSubscribedToTopic,
offsetExpirationCondition); KIP-211, KIP-496.
"""

from harness.base.ids import TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.errors import DecodeError
from harness.reference_broker.state.groups.group import CONSUMERS, Group
from harness.reference_broker.state.groups.group_states import GroupState

_NO_GENERATION = -1


def problem_with_commit(
    group: Group,
    member_id: str,
    generation: int,
    instance_id: str | None,
    *,
    in_transaction: bool = False,
) -> ErrorCode:
    """Return NONE for a member of the current generation, and for any client without members.

    In a transaction a client that names no member may commit at any time (KIP-447).
    """
    if group.state is GroupState.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if generation < 0 and group.state is GroupState.EMPTY:
        return ErrorCode.NONE
    error = ErrorCode.NONE
    if generation >= 0 or member_id or instance_id is not None:
        error = group.problem_with(member_id, generation, instance_id)
    elif group.state is not GroupState.EMPTY and not in_transaction:
        error = ErrorCode.UNKNOWN_MEMBER_ID
    is_waiting = group.state is GroupState.COMPLETING_REBALANCE and not in_transaction
    if error is ErrorCode.NONE and is_waiting:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return error


def problem_with_early_commit(
    group: Group, member_id: str, generation: int, instance_id: str | None
) -> ErrorCode:
    """Return the error of a commit in a transaction, as before Kafka 3.0: what is given is checked.

    Source: class GroupCoordinator 2.8.2 (doTxnCommitOffsets).
    """
    if group.state is GroupState.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if instance_id is not None and group.instances.get(instance_id, member_id) != member_id:
        return ErrorCode.FENCED_INSTANCE_ID
    if member_id and member_id not in group.members:
        return ErrorCode.UNKNOWN_MEMBER_ID
    is_other = generation not in (group.generation, _NO_GENERATION)
    return ErrorCode.ILLEGAL_GENERATION if is_other else ErrorCode.NONE


def problem_with_deletion(group: Group) -> ErrorCode:
    """Return NON_EMPTY_GROUP if members are no consumers: the topics that they use are unknown."""
    if group.state is GroupState.DEAD:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not GroupState.EMPTY and group.protocol_type != CONSUMERS:
        return ErrorCode.NON_EMPTY_GROUP
    return ErrorCode.NONE


def is_subscribed(group: Group, topic: str) -> bool:
    """True if a member of the last generation uses the topic.

    Consumers with unknown subscriptions may use any topic.
    """
    topics = _subscribed_topics(group)
    if topics is None:
        return group.protocol_type == CONSUMERS
    return topic in topics


def offsets_age_since(group: Group, topic: str, committed_at: TimeMs) -> TimeMs | None:
    """Return the time at which an offset's retention began; None while members may need it."""
    if is_subscribed(group, topic):
        return None
    if group.protocol_type is None:
        return committed_at
    if group.state is GroupState.EMPTY:  # up to 2.0 its time is not stored
        return group.state_since if group.state_since >= 0 else committed_at
    stable_consumers = group.protocol_type == CONSUMERS and group.state is GroupState.STABLE
    return committed_at if stable_consumers else None


def _subscribed_topics(group: Group) -> frozenset[str] | None:
    """Return the topics of all members of the last generation; None if they are not known."""
    if group.subscriptions is None:
        return None
    if not group.subscriptions:
        return frozenset()
    from harness.codec.data_framing.version_prefix import read_subscription

    topics: set[str] = set()
    for metadata in group.subscriptions:
        try:
            topics.update(read_subscription(metadata).message.topics)
        except DecodeError:
            return None
    return frozenset(topics)

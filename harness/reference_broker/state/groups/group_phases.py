"""The phases of a classic group between one generation and the next.

Source: class GroupMetadataManager. A rebalance has two phases: all members join, then the leader
sends the assignments. Each phase has its deadline; a member that misses it is removed, except a
static member in the join phase.
"""

from harness.base.ids import MemberId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_member import (
    NO_ASSIGNMENT,
    NO_MEMBER,
    Joined,
    Member,
    Synced,
)
from harness.reference_broker.state.groups.group_states import GroupEvent, GroupState
from harness.reference_broker.state.groups.groups import GroupAlarm, Groups

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""Session timeout of a new member in its first join, in which it cannot send heartbeats."""

_MAY_REBALANCE = (GroupState.STABLE, GroupState.COMPLETING_REBALANCE, GroupState.EMPTY)


# -- sessions --------------------------------------------------------------------------------------


def renew_session(
    groups: Groups, group: Group, member: Member, now: TimeMs, timeout_ms: int | None = None
) -> None:
    """Begin the member's session anew, with its session timeout unless `timeout_ms` is given."""
    timeout_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
    expect_again(groups, group, member.member_id, TimeMs(now + timeout_ms))


def expect_again(groups: Groups, group: Group, member_id: MemberId, until: TimeMs) -> None:
    """Set the end of a session; a member without a request until then, or a mere id, is removed."""
    groups.set_alarm(
        _session(group, member_id), until, lambda now: _expire(groups, group, member_id, now)
    )


def remove_member(groups: Groups, group: Group, member_id: MemberId) -> None:
    """Remove a member at once; a join of it that waits receives UNKNOWN_MEMBER_ID.

    Without `tells_removed` such a join receives no response.
    """
    forget_session(groups, group, member_id)
    member = group.members.get(member_id)
    if member is not None and groups.limits.tells_removed:
        member.answer_join(Joined(ErrorCode.UNKNOWN_MEMBER_ID, NO_MEMBER))
    group.remove(member_id)


def forget_session(groups: Groups, group: Group, member_id: MemberId) -> None:
    """End the session of an id, without a consequence."""
    groups.cancel_alarm(_session(group, member_id))


def _session(group: Group, member_id: MemberId) -> GroupAlarm:
    return GroupAlarm("session", group.group_id, member_id)


def _expire(groups: Groups, group: Group, member_id: MemberId, now: TimeMs) -> None:
    member = group.members.get(member_id)
    if member is not None and member.is_waiting and not member.is_new:
        return  # it waits for our response, and that begins its session anew
    was_pending = member_id in group.pending_members
    remove_member(groups, group, member_id)
    if member is not None:
        rebalance_or_complete(groups, group, now)
    elif was_pending:
        _complete_without_id(groups, group, now)


def _complete_without_id(groups: Groups, group: Group, now: TimeMs) -> None:
    """End a join phase that waited for this id.

    Since 4.0 that ends a group's first join phase too, before its delay is over
    (removePendingMemberAndUpdateClassicGroup).
    """
    is_waiting = group.state is GroupState.PREPARING_REBALANCE and group.all_joined
    if is_waiting and groups.limits.expired_ids_end_delay:
        complete_join(groups, group, now)
    else:
        complete_join_if_all_are_there(groups, group, now)


# -- the join phase --------------------------------------------------------------------------------


def rebalance_or_complete(groups: Groups, group: Group, now: TimeMs) -> None:
    """After a change, begin a rebalance, or end a join phase that waited for this change."""
    if group.state in _MAY_REBALANCE:
        prepare_rebalance(groups, group, now)
    else:
        complete_join_if_all_are_there(groups, group, now)


def prepare_rebalance(groups: Groups, group: Group, now: TimeMs) -> None:
    """Begin a join phase: all members must join again.

    A new group waits a while for more members (KIP-134).
    """
    if group.state is GroupState.COMPLETING_REBALANCE:
        for member in group.members.values():
            member.assignment = NO_ASSIGNMENT
        _answer_syncs(groups, group, ErrorCode.REBALANCE_IN_PROGRESS, now)
    group.pending_syncs.clear()
    groups.cancel_alarm(GroupAlarm("sync", group.group_id))
    is_first = group.state is GroupState.EMPTY
    group.apply(GroupEvent.REBALANCE_BEGINS, now)
    delay_ms = groups.limits.initial_rebalance_delay_ms
    if is_first and delay_ms is not None:
        left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        _delay_first(groups, group, now, delay_ms, (delay_ms, left_ms))
    elif group.all_joined:
        complete_join(groups, group, now)
    else:
        _await_joins(groups, group, now)


def complete_join_if_all_are_there(groups: Groups, group: Group, now: TimeMs) -> None:
    """End the join phase early if all members have joined.

    The first join phase of a group does not end early: it has its delay.
    """
    is_rejoin = (
        group.state is GroupState.PREPARING_REBALANCE
        and group.previous_state is not GroupState.EMPTY
    )
    if is_rejoin and group.all_joined:
        complete_join(groups, group, now)


def complete_join(groups: Groups, group: Group, now: TimeMs) -> None:
    """End the join phase: remove absent dynamic members and begin the next generation.

    Absent static members remain. If members remain and none has joined, the phase begins again.
    """
    groups.cancel_alarm(GroupAlarm("join", group.group_id))
    absent = [member for member in group.members.values() if member.waiting_join is None]
    for member in absent:
        if member.instance_id is None:
            remove_member(groups, group, member.member_id)
    if group.members and not _elect_leader(group):
        _await_joins(groups, group, now)
        return
    group.begin_generation(now)
    if not group.members:
        groups.log.keep_group(group, {}, now)
    for member in group.members.values():
        member.answer_join(group.joined(member.member_id))
        renew_session(groups, group, member, now)
        member.is_new = False
        group.pending_syncs.add(member.member_id)
    if group.members and groups.limits.awaits_syncs:
        _await_syncs(groups, group, now)


def _elect_leader(group: Group) -> bool:
    """Ensure that the leader is a member that has joined; False if no member has joined."""
    leader = None if group.leader_id is None else group.members[group.leader_id]
    if leader is None or leader.waiting_join is None:
        joined = (m.member_id for m in group.members.values() if m.waiting_join is not None)
        elected = next(joined, None)
        if elected is None:
            return False
        group.leader_id = elected
    return True


def _delay_first(
    groups: Groups, group: Group, now: TimeMs, most_ms: int, times: tuple[int, int]
) -> None:
    """Delay the end of the first join phase by the first of `times`, in ms.

    The second of `times` is the delay that may be added while members arrive, each time by
    `most_ms` at most.
    """
    delay_ms, left_ms = times

    def delay_is_over(then: TimeMs) -> None:
        if not group.new_member_added or left_ms == 0:
            complete_join(groups, group, then)
            return
        group.new_member_added = False
        next_ms = min(most_ms, left_ms)
        _delay_first(groups, group, then, most_ms, (next_ms, max(left_ms - delay_ms, 0)))

    groups.set_alarm(GroupAlarm("join", group.group_id), now + delay_ms, delay_is_over)


def _await_joins(groups: Groups, group: Group, now: TimeMs) -> None:
    groups.set_alarm(
        GroupAlarm("join", group.group_id),
        now + group.rebalance_timeout_ms,
        lambda then: complete_join(groups, group, then),
    )


# -- the sync phase --------------------------------------------------------------------------------


def assign(groups: Groups, group: Group, parts: dict[str, bytes], now: TimeMs) -> None:
    """Store and send the leader's assignments; a member without one gets an empty assignment."""
    if groups.log.refuses(group.group_id):
        _refuse_assignments(groups, group, ErrorCode.COORDINATOR_NOT_AVAILABLE, now)
        return
    if not groups.log.keep_group(group, parts, now):
        groups.revert(group.group_id)
        _refuse_assignments(groups, group, ErrorCode.UNKNOWN_SERVER_ERROR, now)
        return
    for member in group.members.values():
        member.assignment = parts.get(member.member_id, NO_ASSIGNMENT)
    _answer_syncs(groups, group, ErrorCode.NONE, now)
    group.apply(GroupEvent.ASSIGNED, now)
    _await_replicas(groups, group, now)


def _refuse_assignments(groups: Groups, group: Group, error: ErrorCode, now: TimeMs) -> None:
    for member in group.members.values():
        member.assignment = NO_ASSIGNMENT
    _answer_syncs(groups, group, error, now)
    prepare_rebalance(groups, group, now)


def _await_replicas(groups: Groups, group: Group, now: TimeMs) -> None:
    """Begin another generation if the replicas in sync do not have the assignments in time."""
    end, generation = groups.log.end_of(group.group_id), group.generation

    def is_replicated() -> bool:
        return groups.log.is_replicated(group.group_id, end)

    def give_up(then: TimeMs) -> None:
        is_present = groups.find(group.group_id) is group and group.generation == generation
        if is_present and group.state is GroupState.STABLE and not is_replicated():
            group.lost_generation = generation
            for member in group.members.values():
                member.assignment = NO_ASSIGNMENT
            prepare_rebalance(groups, group, then)

    if not is_replicated():
        alarm = GroupAlarm("replicas", group.group_id)
        groups.set_alarm(alarm, now + groups.limits.write_timeout_ms, give_up)


def note_sync(groups: Groups, group: Group, member_id: MemberId) -> None:
    """Note a member's sync; after the last one the phase has no deadline any more."""
    group.pending_syncs.discard(member_id)
    if not group.pending_syncs:
        groups.cancel_alarm(GroupAlarm("sync", group.group_id))


def _answer_syncs(groups: Groups, group: Group, error: ErrorCode, now: TimeMs) -> None:
    tells = error is ErrorCode.NONE
    for member in group.members.values():
        synced = Synced(
            error,
            group.protocol_type if tells else None,
            group.protocol_name if tells else None,
            member.assignment,
        )
        if member.answer_sync(synced):
            renew_session(groups, group, member, now)


def _await_syncs(groups: Groups, group: Group, now: TimeMs) -> None:
    generation = group.generation

    def give_up(then: TimeMs) -> None:
        if generation != group.generation or not group.pending_syncs:
            return
        for member_id in list(group.pending_syncs):
            remove_member(groups, group, member_id)
        prepare_rebalance(groups, group, then)

    alarm = GroupAlarm("sync", group.group_id)
    groups.set_alarm(alarm, now + group.rebalance_timeout_ms, give_up)

"""SyncGroup, Heartbeat and LeaveGroup: the requests of members between two joins.

Source: class GroupMetadataManager, the methods classicGroupSync, classicGroupHeartbeat and
classicGroupLeave.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.ids import MemberId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_member import NO_MEMBER, Parked, Synced
from harness.reference_broker.state.groups.group_phases import (
    assign,
    complete_join_if_all_are_there,
    note_sync,
    rebalance_or_complete,
    remove_member,
    renew_session,
)
from harness.reference_broker.state.groups.group_states import GroupState
from harness.reference_broker.state.groups.groups import Groups


@dataclass(frozen=True, slots=True)
class Caller:
    """The member that a request claims as its sender."""

    group_id: str
    member_id: MemberId
    generation: int
    instance_id: str | None


@dataclass(frozen=True, slots=True)
class WantedSync:
    """A SyncGroup request; `parts` are the leader's assignments by member id."""

    caller: Caller
    protocol_type: str | None
    protocol_name: str | None
    parts: dict[str, bytes]


def sync(groups: Groups, wanted: WantedSync, now: TimeMs) -> Parked[Synced]:
    """Return the result of a sync, which waits until the leader has sent the assignments."""
    parked: Parked[Synced] = Parked()
    caller = wanted.caller
    group = groups.find(caller.group_id)
    error = _problem_with_sync(groups, group, wanted)
    if group is None or error is not ErrorCode.NONE:
        parked.outcome = Synced(error)
        return parked
    if not groups.budget.take(sum(map(len, wanted.parts.values())), now):
        parked.outcome = Synced(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return parked
    member = group.members[caller.member_id]
    note_sync(groups, group, caller.member_id)
    if group.state is GroupState.STABLE:
        parked.outcome = Synced(error, group.protocol_type, group.protocol_name, member.assignment)
        return parked
    member.waiting_sync = parked
    if caller.member_id == group.leader_id:
        assign(groups, group, wanted.parts, now)
    return parked


def _problem_with_sync(groups: Groups, group: Group | None, wanted: WantedSync) -> ErrorCode:
    caller = wanted.caller
    if group is None or group.state is GroupState.EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    instance_id = groups.instance_to_check(group, caller.instance_id)
    error = group.problem_with(caller.member_id, caller.generation, instance_id)
    if error is not ErrorCode.NONE:
        return error
    if _differ(wanted.protocol_type, group.protocol_type) or _differ(
        wanted.protocol_name, group.protocol_name
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is GroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _differ(said: str | None, known: str | None) -> bool:
    return said is not None and known is not None and said != known


def heartbeat(groups: Groups, caller: Caller, now: TimeMs) -> ErrorCode:
    """Renew the session of a member, even while a rebalance requires it to join again."""
    group = groups.find(caller.group_id)
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    instance_id = groups.instance_to_check(group, caller.instance_id)
    error = group.problem_with(caller.member_id, caller.generation, instance_id)
    if error is not ErrorCode.NONE:
        return error
    renew_session(groups, group, group.members[caller.member_id], now)
    is_rebalancing = group.state is GroupState.PREPARING_REBALANCE
    return ErrorCode.REBALANCE_IN_PROGRESS if is_rebalancing else ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class Leaver:
    """A member to remove, by its id, by its instance id, or by both."""

    member_id: MemberId
    instance_id: str | None


def leave(groups: Groups, group_id: str, leavers: Sequence[Leaver], now: TimeMs) -> list[ErrorCode]:
    """Remove the given members, and return an error for each.

    The remaining members rebalance once for all of them.
    """
    group = groups.find(group_id)
    if group is None:
        return [ErrorCode.UNKNOWN_MEMBER_ID] * len(leavers)
    errors = [_remove(groups, group, leaver) for leaver in leavers]
    if ErrorCode.NONE in errors:
        if group.state is GroupState.PREPARING_REBALANCE:
            complete_join_if_all_are_there(groups, group, now)
        elif group.state is not GroupState.EMPTY:
            rebalance_or_complete(groups, group, now)
    return errors


def _remove(groups: Groups, group: Group, leaver: Leaver) -> ErrorCode:
    member_id = leaver.member_id
    if member_id == NO_MEMBER:
        if leaver.instance_id is None or leaver.instance_id not in group.instances:
            return ErrorCode.UNKNOWN_MEMBER_ID
        member_id = group.instances[leaver.instance_id]
    elif member_id not in group.pending_members:
        instance_id = groups.instance_to_check(group, leaver.instance_id)
        error = group.problem_with_member(member_id, instance_id)
        if error is not ErrorCode.NONE:
            return error
    remove_member(groups, group, member_id)
    return ErrorCode.NONE

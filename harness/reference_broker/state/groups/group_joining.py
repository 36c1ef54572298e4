"""JoinGroup: the admission of new and existing members, and the rebalance that a join causes.

Source: class GroupMetadataManager, the methods classicGroupJoin; KIP-345, KIP-389, KIP-394,
KIP-814.
"""

from dataclasses import dataclass, replace

from harness.base.ids import MemberId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_member import (
    NO_MEMBER,
    Joined,
    Member,
    Parked,
    Protocol,
    size_of_member,
)
from harness.reference_broker.state.groups.group_phases import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    complete_join_if_all_are_there,
    expect_again,
    forget_session,
    prepare_rebalance,
    rebalance_or_complete,
    renew_session,
)
from harness.reference_broker.state.groups.group_states import GroupState
from harness.reference_broker.state.groups.groups import Groups
from harness.reference_broker.state.memory_budget import PER_THING_BYTES


@dataclass(frozen=True, slots=True)
class WantedJoin:
    """A JoinGroup request. `fresh_id` is the id for a member that needs a new one.

    `needs_known_id`: a new dynamic member first receives its id and must join again with it.
    `may_skip_assignment`: the version of the response has that field.
    """

    group_id: str
    member_id: MemberId
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[Protocol, ...]
    fresh_id: MemberId
    needs_known_id: bool
    may_skip_assignment: bool

    @property
    def size_bytes(self) -> int:
        """Estimated bytes of the request that the group may keep."""
        instance_id = self.instance_id or ""
        texts = (self.group_id, self.fresh_id, instance_id, self.client_id, self.protocol_type)
        return PER_THING_BYTES + size_of_member(texts, self.protocols)


def join(groups: Groups, wanted: WantedJoin, now: TimeMs) -> Parked[Joined]:
    """Return the result of a join, which waits until the join phase is over."""
    parked: Parked[Joined] = Parked()
    if not groups.budget.take(wanted.size_bytes, now):
        return _refused(parked, ErrorCode.COORDINATOR_NOT_AVAILABLE, wanted.member_id)
    is_new = wanted.member_id == NO_MEMBER
    group = groups.find(wanted.group_id)
    if group is None and is_new:
        group = groups.find_or_create(wanted.group_id, now)
        groups.log.keep_new_group(group, now)
    if group is None:
        return _refused(parked, ErrorCode.UNKNOWN_MEMBER_ID, wanted.member_id)
    if not _has_room(group, wanted.member_id, groups.limits.max_size):
        if groups.limits.refused_ids_end or wanted.member_id in group.members:
            group.remove(wanted.member_id)
        return _refused(parked, ErrorCode.GROUP_MAX_SIZE_REACHED, NO_MEMBER)
    names = [protocol.name for protocol in wanted.protocols]
    is_anything_taken = group.state is GroupState.EMPTY and not groups.limits.wants_protocols
    if is_new and is_anything_taken and not names:
        return _refused(parked, ErrorCode.UNKNOWN_SERVER_ERROR, wanted.member_id)
    if not is_anything_taken and not group.supports(wanted.protocol_type, names):
        return _refused(parked, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, wanted.member_id)
    if is_new:
        _join_new(groups, group, wanted, parked, now)
    elif wanted.member_id in group.pending_members:
        _join_as_told(groups, group, wanted, parked, now)
    else:
        _join_again(groups, group, wanted, parked, now)
    return parked


def _refused(parked: Parked[Joined], error: ErrorCode, member_id: MemberId) -> Parked[Joined]:
    parked.outcome = Joined(error, member_id)
    return parked


def _has_room(group: Group, member_id: MemberId, max_size: int) -> bool:
    """True if the group has room for the client.

    Members keep their place; during a rebalance only those that have already joined do.
    """
    member = group.members.get(member_id)
    if group.state is GroupState.EMPTY:
        return True
    if group.state is GroupState.PREPARING_REBALANCE:
        has_joined = member is not None and member.waiting_join is not None
        return has_joined or group.joining_count < max_size
    return member is not None or len(group.members) < max_size


# -- clients without an id -------------------------------------------------------------------------


def _join_new(
    groups: Groups, group: Group, wanted: WantedJoin, parked: Parked[Joined], now: TimeMs
) -> None:
    instance_id, fresh_id = wanted.instance_id, wanted.fresh_id
    if instance_id is not None and instance_id in group.instances:
        _come_back(groups, group, wanted, parked, now)
    elif instance_id is None and wanted.needs_known_id:
        group.pending_members.add(fresh_id)
        expect_again(groups, group, fresh_id, TimeMs(now + wanted.session_timeout_ms))
        parked.outcome = Joined(ErrorCode.MEMBER_ID_REQUIRED, fresh_id)
    else:
        _add(groups, group, replace(wanted, member_id=fresh_id), parked, now)


def _join_as_told(
    groups: Groups, group: Group, wanted: WantedJoin, parked: Parked[Joined], now: TimeMs
) -> None:
    """Add a dynamic member with the id that it has received.

    Only dynamic members receive such ids: a static one with such an id is not foreseen
    (UNKNOWN_SERVER_ERROR).
    """
    if wanted.instance_id is not None:
        parked.outcome = Joined(ErrorCode.UNKNOWN_SERVER_ERROR, NO_MEMBER)
    else:
        _add(groups, group, wanted, parked, now)


def _add(
    groups: Groups, group: Group, wanted: WantedJoin, parked: Parked[Joined], now: TimeMs
) -> None:
    member = Member(
        wanted.member_id,
        wanted.instance_id,
        wanted.client_id,
        wanted.client_host,
        wanted.session_timeout_ms,
        wanted.rebalance_timeout_ms,
        wanted.protocol_type,
        wanted.protocols,
        is_new=True,
        waiting_join=parked,
    )
    if group.state is GroupState.PREPARING_REBALANCE and group.previous_state is GroupState.EMPTY:
        group.new_member_added = True
    group.add(member)
    renew_session(groups, group, member, now, NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance_or_complete(groups, group, now)


def _come_back(
    groups: Groups, group: Group, wanted: WantedJoin, parked: Parked[Joined], now: TimeMs
) -> None:
    """Rejoin a restarted static member under a new id, without a rebalance if nothing changes."""
    assert wanted.instance_id is not None
    old_leader = group.leader_id or NO_MEMBER
    forget_session(groups, group, group.instances[wanted.instance_id])
    member = group.replace_static(wanted.instance_id, wanted.fresh_id)
    renew_session(groups, group, member, now)
    _update(groups, member, wanted, parked)
    if group.state is GroupState.STABLE:
        if group.select_protocol() != group.protocol_name:
            rebalance_or_complete(groups, group, now)
        else:
            groups.log.keep_group(group, group.parts, now)
            member.answer_join(_place_kept(group, member, old_leader, wanted.may_skip_assignment))
    elif group.state is GroupState.COMPLETING_REBALANCE:
        # The leader may have assigned to the old id already.
        prepare_rebalance(groups, group, now)
    else:
        complete_join_if_all_are_there(groups, group, now)


def _place_kept(
    group: Group, member: Member, old_leader: MemberId, may_skip_assignment: bool
) -> Joined:
    """Return the result of a static member's rejoin without a rebalance.

    For a client that cannot skip the assignment, the old id is named as leader, so that no client
    assigns.
    """
    joined = group.joined(member.member_id)
    if may_skip_assignment:
        return replace(joined, skip_assignment=member.member_id == group.leader_id)
    return replace(joined, leader_id=old_leader, roster=())


# -- present members -------------------------------------------------------------------------------


def _join_again(
    groups: Groups, group: Group, wanted: WantedJoin, parked: Parked[Joined], now: TimeMs
) -> None:
    member_id = wanted.member_id
    error = group.problem_with_member(member_id, wanted.instance_id)
    if error is not ErrorCode.NONE:
        parked.outcome = Joined(error, member_id)
        return
    member = group.members[member_id]
    is_same = member.protocols == wanted.protocols
    leads_stable = group.state is GroupState.STABLE and member_id == group.leader_id
    if group.state is not GroupState.PREPARING_REBALANCE and is_same and not leads_stable:
        parked.outcome = group.joined(member_id)
        return
    _update(groups, member, wanted, parked)
    rebalance_or_complete(groups, group, now)


def _update(groups: Groups, member: Member, wanted: WantedJoin, parked: Parked[Joined]) -> None:
    member.protocols = wanted.protocols
    if groups.limits.timeouts_change:
        member.session_timeout_ms = wanted.session_timeout_ms
        member.rebalance_timeout_ms = wanted.rebalance_timeout_ms
    member.waiting_join = parked

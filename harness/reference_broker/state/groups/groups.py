"""All groups of one coordinator, with the times at which they change without a request.

Source: class GroupMetadataManager.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.base.ids import GroupId, TimeMs
from harness.reference_broker.effects import Effect, GroupMoved
from harness.reference_broker.state.alarms import Action, Alarms
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_log import GroupLog
from harness.reference_broker.state.groups.group_states import GroupEvent
from harness.reference_broker.state.memory_budget import PER_THING_BYTES, MemoryBudget


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """Settings of classic groups.

    `initial_rebalance_delay_ms`: None where the first generation waits for no further member.
    `awaits_syncs`: members that do not sync in time are removed. `wants_protocols`: a group needs a
    type and a protocol. `timeouts_change`: each join of a member sets its timeouts.
    `tells_removed`: a member that is removed while its join waits gets a response. `memory_bytes`:
    limit for the estimated memory of all groups. `instances_are_known`: an instance id that the
    group does not know is an error; if not, it counts as none. `refused_ids_end`: a full group
    removes the id of a client that it refuses. `expired_ids_end_delay`: an id that expires may end
    the first join phase of a group. `write_timeout_ms`: the time in which the replicas in sync must
    have the assignments of a generation.
    """

    initial_rebalance_delay_ms: int | None
    min_session_timeout_ms: int
    max_session_timeout_ms: int
    max_size: int
    awaits_syncs: bool = True
    wants_protocols: bool = True
    timeouts_change: bool = True
    tells_removed: bool = True
    instances_are_known: bool = True
    refused_ids_end: bool = True
    expired_ids_end_delay: bool = True
    memory_bytes: int = 256 * 1024 * 1024
    write_timeout_ms: int = 5_000


@dataclass(frozen=True, slots=True)
class GroupAlarm:
    """Key of an alarm: its subject, its group, and its member if it concerns one."""

    about: str
    group_id: GroupId
    member_id: str = ""


class Groups:
    """The groups by id, their alarms, and the log that stores them."""

    __slots__ = ("_alarms", "_by_id", "budget", "limits", "log")

    def __init__(self, limits: GroupLimits, log: GroupLog) -> None:
        self.limits, self.log = limits, log
        self._by_id: dict[GroupId, Group] = {}
        self._alarms = Alarms()
        self.budget = MemoryBudget(limits.memory_bytes, self._used_bytes)

    def _used_bytes(self) -> int:
        return sum(group.size_bytes for group in self._by_id.values())

    # -- groups --------------------------------------------------------------------------------

    def all(self) -> Iterable[Group]:
        """Return all groups in the order of their creation."""
        return self._by_id.values()

    def shown(self) -> Iterable[Group]:
        """Return the groups that lists and descriptions contain: all but the newest."""
        return (group for group in self._by_id.values() if self._is_shown(group))

    def find(self, group_id: str) -> Group | None:
        """Return the group of that id; None if there is none."""
        return self._by_id.get(GroupId(group_id))

    def find_shown(self, group_id: str) -> Group | None:
        """Return the group of that id; None if there is none or it is not shown yet."""
        found = self.find(group_id)
        return found if found is not None and self._is_shown(found) else None

    def instance_to_check(self, group: Group, instance_id: str | None) -> str | None:
        """Return the instance id, None for one that the group does not know and may ignore."""
        is_known = self.limits.instances_are_known or instance_id in group.instances
        return instance_id if is_known else None

    def has_room_for(self, group_id: str, now: TimeMs) -> bool:
        """True if the group exists, or if there is memory for one more group without members."""
        size_bytes = PER_THING_BYTES + len(group_id)
        return self.find(group_id) is not None or self.budget.take(size_bytes, now)

    def find_or_create(self, group_id: str, now: TimeMs) -> Group:
        """Return the group of that id; a new one is empty, at generation 0."""
        found = self.find(group_id)
        if found is None:
            found = Group(GroupId(group_id), now, self.log.end_of_unshown(group_id))
            self._by_id[found.group_id] = found
        return found

    def restore(self, group: Group) -> None:
        """Put a group that was read from the log, instead of an existing one."""
        self._by_id[group.group_id] = group

    def drop(self, group: Group) -> None:
        """Forget a group that another broker coordinates now; write nothing to the log."""
        for member_id in (*group.members, *group.pending_members):
            self._alarms.cancel(GroupAlarm("session", group.group_id, member_id))
        del self._by_id[group.group_id]

    def revert(self, group_id: str) -> None:
        """Remove the groups of that group's partition that are not shown, after a failed write.

        Source: ``CoordinatorRuntime``, ``SnapshotRegistry.revertToSnapshot``.
        """
        for group in list(self._by_id.values()):
            if not self._is_shown(group) and self.log.keeps_together(group.group_id, group_id):
                del self._by_id[group.group_id]

    def _is_shown(self, group: Group) -> bool:
        """True if the group is shown: since Kafka 4.0, after a write that follows its creation."""
        if group.made_at is not None and self.log.end_of_unshown(group.group_id) != group.made_at:
            group.made_at = None
        return group.made_at is None

    def remove(self, group: Group, now: TimeMs) -> None:
        """Remove a group without members."""
        for member_id in group.pending_members:
            self._alarms.cancel(GroupAlarm("session", group.group_id, member_id))
        group.apply(GroupEvent.REMOVED, now)
        self.log.forget_group(group, now)
        del self._by_id[group.group_id]

    # -- time ----------------------------------------------------------------------------------

    @property
    def next_alarm_at(self) -> TimeMs | None:
        """Time of the next call of `ring`, unless an alarm is set before; None without alarms."""
        return self._alarms.next_at

    def ring(self, now: TimeMs) -> list[Effect]:
        """Run the alarms that are due; return an effect for each group concerned."""
        rung = self._alarms.ring(now)
        return [
            GroupMoved(group_id)
            for group_id in dict.fromkeys(
                alarm.group_id for alarm in rung if isinstance(alarm, GroupAlarm)
            )
        ]

    def set_alarm(self, alarm: GroupAlarm, at: int, action: Action) -> None:
        """Set an alarm, instead of one with the same key."""
        self._alarms.set(alarm, TimeMs(at), action)

    def cancel_alarm(self, alarm: GroupAlarm) -> None:
        """Remove an alarm, if it is set."""
        self._alarms.cancel(alarm)

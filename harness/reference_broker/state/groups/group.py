"""One classic group: its members, its generation, its state.

Source: class ClassicGroup. `group_states` has the state machine, `group_phases` the work of a
rebalance.
"""

from harness.base.ids import GroupId, MemberId, Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.groups.group_member import (
    NO_MEMBER,
    Joined,
    Member,
    RosterEntry,
    Synced,
)
from harness.reference_broker.state.groups.group_states import GroupEvent, GroupState, next_state
from harness.reference_broker.state.memory_budget import PER_THING_BYTES

CONSUMERS = "consumer"
"""The protocol type of consumers, with metadata that the coordinator can read."""


class Group:
    """One classic group: `add` and `remove` change `members` and `instances`.

    `pending_members` have received an id and have not joined with it yet (KIP-394). `pending_syncs`
    have not requested their assignment of the current generation. `made_at`: end offset of the
    group's partition of the internal topic at its creation, None once the group is shown.
    `subscriptions`: metadata of the consumers at the begin of the last generation, None if they
    were no consumers or there was no generation; joins and leaves since then do not change it.
    `lost_generation`: the last one with assignments that the replicas did not have in time.
    """

    __slots__ = (
        "generation",
        "group_id",
        "instances",
        "leader_id",
        "lost_generation",
        "made_at",
        "members",
        "new_member_added",
        "pending_members",
        "pending_syncs",
        "previous_state",
        "protocol_name",
        "protocol_type",
        "state",
        "state_since",
        "subscriptions",
    )

    def __init__(self, group_id: GroupId, now: TimeMs, made_at: Offset | None = None) -> None:
        self.group_id = group_id
        self.made_at = made_at
        self.state = GroupState.EMPTY
        self.previous_state = GroupState.DEAD
        self.state_since = now
        self.generation = 0
        self.lost_generation = -1
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: MemberId | None = None
        self.members: dict[MemberId, Member] = {}
        self.instances: dict[str, MemberId] = {}
        self.pending_members: set[MemberId] = set()
        self.pending_syncs: set[MemberId] = set()
        self.new_member_added = False
        self.subscriptions: tuple[bytes, ...] | None = None

    @property
    def size_bytes(self) -> int:
        """Estimated memory of the group with its members."""
        pending = sum(PER_THING_BYTES + len(member_id) for member_id in self.pending_members)
        members = sum(member.size_bytes for member in self.members.values())
        return PER_THING_BYTES + len(self.group_id) + pending + members

    # -- members -------------------------------------------------------------------------------

    @property
    def is_simple(self) -> bool:
        """True if no client has ever joined: the group exists only for its offsets."""
        return (
            self.protocol_type is None
            and self.state is GroupState.EMPTY
            and not self.pending_members
        )

    def problem_with_member(self, member_id: str, instance_id: str | None = None) -> ErrorCode:
        """Return NONE for a current member, else an error: a static one may have been replaced."""
        if instance_id is not None:
            current = self.instances.get(instance_id)
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def problem_with(
        self, member_id: str, generation: int, instance_id: str | None = None
    ) -> ErrorCode:
        """Return the error as `problem_with_member`.

        ILLEGAL_GENERATION if `generation` is not the current one; COORDINATOR_NOT_AVAILABLE for a
        group that is DEAD.
        """
        if self.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        error = self.problem_with_member(member_id, instance_id)
        if error is ErrorCode.NONE and generation != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        return error

    def add(self, member: Member) -> None:
        """Add a member with supported protocols; the first member becomes the leader."""
        if not self.members:
            self.protocol_type = member.protocol_type
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self.pending_members.discard(member.member_id)

    def remove(self, member_id: MemberId) -> None:
        """Remove a member, pending or not; if it was the leader, another member becomes leader."""
        removed = self.members.pop(member_id, None)
        if removed is not None and removed.instance_id is not None:
            self.instances.pop(removed.instance_id, None)
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_members.discard(member_id)
        self.pending_syncs.discard(member_id)

    def replace_static(self, instance_id: str, new_id: MemberId) -> Member:
        """Give a static member that has come back its new id.

        Requests that still wait with the old id fail with FENCED_INSTANCE_ID.
        """
        old_id = self.instances[instance_id]
        member = self.members.pop(old_id)
        fenced = ErrorCode.FENCED_INSTANCE_ID
        member.answer_join(Joined(fenced, old_id))
        member.answer_sync(Synced(fenced))
        member.member_id = new_id
        member.is_new = False
        self.members[new_id] = member
        self.instances[instance_id] = new_id
        if self.leader_id == old_id:
            self.leader_id = new_id
        return member

    # -- protocols of the members --------------------------------------------------------------

    def supports(self, protocol_type: str, protocol_names: list[str]) -> bool:
        """True if a client with these protocols may join, or remain a member."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and bool(protocol_names)
        return protocol_type == self.protocol_type and any(
            all(member.supports(name) for member in self.members.values())
            for name in protocol_names
        )

    def select_protocol(self) -> str:
        """Return the protocol that most members prefer, of those that all members offer.

        On a tie the names decide, not the order of the members: a member that rejoins changes
        nothing.
        """
        members = list(self.members.values())
        votes: dict[str, int] = {}
        for member in members:
            chosen = next(
                protocol.name
                for protocol in member.protocols
                if all(other.supports(protocol.name) for other in members)
            )
            votes[chosen] = votes.get(chosen, 0) + 1
        return max(sorted(votes), key=votes.__getitem__)

    def roster(self) -> tuple[RosterEntry, ...]:
        """Return all members as the leader receives them."""
        return tuple(
            RosterEntry(member.member_id, member.instance_id, member.metadata(self.protocol_name))
            for member in self.members.values()
        )

    @property
    def parts(self) -> dict[str, bytes]:
        """The assignments by member id."""
        return {member.member_id: member.assignment for member in self.members.values()}

    # -- rebalance -----------------------------------------------------------------------------

    @property
    def all_joined(self) -> bool:
        """True if the join phase waits for no member."""
        return not self.pending_members and all(
            member.waiting_join is not None for member in self.members.values()
        )

    @property
    def joining_count(self) -> int:
        """Number of members that wait for the next generation."""
        return sum(member.waiting_join is not None for member in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """The largest rebalance timeout of all members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def apply(self, event: GroupEvent, now: TimeMs) -> None:
        """Enter the state that follows this event. Raises IllegalTransitionError."""
        following = next_state(self.state, event)
        self.previous_state, self.state, self.state_since = self.state, following, now

    def begin_generation(self, now: TimeMs) -> None:
        """Begin a generation of the present members; without any the group is empty."""
        self.generation += 1
        self.pending_syncs.clear()
        self.protocol_name = self.select_protocol() if self.members else None
        self.note_subscriptions()
        self.apply(GroupEvent.GENERATION_BEGINS if self.members else GroupEvent.MEMBERS_GONE, now)

    def note_subscriptions(self) -> None:
        """Keep the metadata of the present members, if they are consumers.

        Source: ClassicGroup.initNextGeneration, computeSubscribedTopics.
        """
        is_known = self.protocol_type == CONSUMERS
        metadata = (member.metadata(self.protocol_name) for member in self.members.values())
        self.subscriptions = tuple(metadata) if is_known else None

    def joined(self, member_id: MemberId) -> Joined:
        """Return the result of a member's join in the current generation."""
        leads = member_id == self.leader_id
        return Joined(
            ErrorCode.NONE,
            member_id,
            self.generation,
            self.protocol_type,
            self.protocol_name,
            self.leader_id or NO_MEMBER,
            roster=self.roster() if leads else (),
        )

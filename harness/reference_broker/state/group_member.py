"""One member of a classic group, and the answers that wait for it (class ClassicGroupMember)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from harness.codec.error_code import ErrorCode
from harness.ids import MemberId
from harness.reference_broker.state.room import PER_THING_BYTES

T = TypeVar("T")

NO_MEMBER = MemberId("")
NO_ASSIGNMENT = b""


class Parked(Generic[T]):
    """An answer that may have to wait: `outcome` is None until it is decided."""

    __slots__ = ("outcome",)

    def __init__(self) -> None:
        self.outcome: T | None = None


@dataclass(frozen=True, slots=True)
class Protocol:
    """A way to share work that a member offers; nobody but members understands `metadata`."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """What the leader learns of one member: its metadata for the chosen protocol."""

    member_id: MemberId
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class Joined:
    """How a join ends. `roster` is the leader's alone; errors name no protocol."""

    error: ErrorCode
    member_id: MemberId
    generation: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: MemberId = NO_MEMBER
    skip_assignment: bool = False
    roster: tuple[RosterEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """How a sync ends."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = NO_ASSIGNMENT


def size_of_member(texts: Iterable[str], protocols: Sequence[Protocol]) -> int:
    """What a member takes before it is assigned something, roughly."""
    offered = sum(PER_THING_BYTES + len(each.name) + len(each.metadata) for each in protocols)
    return 2 * PER_THING_BYTES + sum(map(len, texts)) + offered


@dataclass(slots=True)
class Member:
    """A member with what it said when it joined last.

    `instance_id` makes it a static one (KIP-345). `is_new` until its first join is answered.
    """

    member_id: MemberId
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[Protocol, ...]
    assignment: bytes = NO_ASSIGNMENT
    is_new: bool = False
    waiting_join: Parked[Joined] | None = field(default=None, repr=False)
    waiting_sync: Parked[Synced] | None = field(default=None, repr=False)

    @property
    def size_bytes(self) -> int:
        """What it takes, roughly."""
        own = (self.member_id, self.instance_id or "", self.client_id, self.protocol_type)
        return size_of_member(own, self.protocols) + len(self.assignment)

    @property
    def is_waiting(self) -> bool:
        """Whether its silence is the group's doing: it has asked and is to be answered."""
        return self.waiting_join is not None or self.waiting_sync is not None

    def supports(self, protocol_name: str) -> bool:
        """Whether it offered this protocol."""
        return any(protocol.name == protocol_name for protocol in self.protocols)

    def metadata(self, protocol_name: str | None) -> bytes:
        """What it said for this protocol, which it offered; nothing for none."""
        found = (each.metadata for each in self.protocols if each.name == protocol_name)
        return next(found, b"")

    def answer_join(self, joined: Joined) -> None:
        """End the join that waits, if there is one."""
        parked, self.waiting_join = self.waiting_join, None
        if parked is not None:
            parked.outcome = joined

    def answer_sync(self, synced: Synced) -> bool:
        """End the sync that waits; whether there was one."""
        parked, self.waiting_sync = self.waiting_sync, None
        if parked is not None:
            parked.outcome = synced
        return parked is not None

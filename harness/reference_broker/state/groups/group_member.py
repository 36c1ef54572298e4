"""One member of a classic group, and the responses that wait for it (class ClassicGroupMember)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from harness.base.ids import MemberId
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.memory_budget import PER_THING_BYTES

T = TypeVar("T")

NO_MEMBER = MemberId("")
NO_ASSIGNMENT = b""


class Parked(Generic[T]):
    """A response that may have to wait: `outcome` is None until it is decided."""

    __slots__ = ("outcome",)

    def __init__(self) -> None:
        self.outcome: T | None = None


@dataclass(frozen=True, slots=True)
class Protocol:
    """An assignment protocol that a member offers; only members interpret `metadata`."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """One member in the leader's response, with its metadata for the chosen protocol."""

    member_id: MemberId
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class Joined:
    """Result of a join. `roster` is for the leader only; errors name no protocol."""

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
    """Result of a sync."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = NO_ASSIGNMENT


def size_of_member(texts: Iterable[str], protocols: Sequence[Protocol]) -> int:
    """Return the estimated bytes of a member without an assignment."""
    offered = sum(PER_THING_BYTES + len(each.name) + len(each.metadata) for each in protocols)
    return 2 * PER_THING_BYTES + sum(map(len, texts)) + offered


@dataclass(slots=True)
class Member:
    """A member with the values of its last join.

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
        """Estimated memory of the member."""
        own = (self.member_id, self.instance_id or "", self.client_id, self.protocol_type)
        return size_of_member(own, self.protocols) + len(self.assignment)

    @property
    def is_waiting(self) -> bool:
        """True if a join or a sync waits for a response: until then no heartbeat is expected."""
        return self.waiting_join is not None or self.waiting_sync is not None

    def supports(self, protocol_name: str) -> bool:
        """True if the member has offered this protocol."""
        return any(protocol.name == protocol_name for protocol in self.protocols)

    def metadata(self, protocol_name: str | None) -> bytes:
        """Return the member's metadata for a protocol; empty for one that it has not offered."""
        found = (each.metadata for each in self.protocols if each.name == protocol_name)
        return next(found, b"")

    def answer_join(self, joined: Joined) -> None:
        """End the join that waits, if there is one."""
        parked, self.waiting_join = self.waiting_join, None
        if parked is not None:
            parked.outcome = joined

    def answer_sync(self, synced: Synced) -> bool:
        """End the sync that waits; True if there was one."""
        parked, self.waiting_sync = self.waiting_sync, None
        if parked is not None:
            parked.outcome = synced
        return parked is not None

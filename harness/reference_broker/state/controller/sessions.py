"""The heartbeats that the controller has received from each broker, and the phase they lead to.

Source: class BrokerHeartbeatManager; KIP-631. Sessions are not in the metadata log: a new
controller begins them anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from harness.base.ids import BrokerId, TimeMs


class BrokerPhase(Enum):
    """The phases of a broker, by its permissions (class BrokerControlState)."""

    FENCED = "nothing"
    UNFENCED = "lead and follow"
    CONTROLLED_SHUTDOWN = "lead what others cannot lead yet"
    SHUTDOWN_NOW = "go"

    @property
    def is_fenced(self) -> bool:
        """True if clients do not see the broker."""
        return self in (BrokerPhase.FENCED, BrokerPhase.SHUTDOWN_NOW)


class Wish(NamedTuple):
    """The content of a heartbeat."""

    metadata_offset: int
    wants_fence: bool
    wants_shut_down: bool


@dataclass(slots=True)
class _Session:
    heard_at: TimeMs | None
    is_fenced: bool
    metadata_offset: int = -1
    shut_down_offset: int = -1

    @property
    def is_shutting_down(self) -> bool:
        return self.shut_down_offset >= 0

    @property
    def is_active(self) -> bool:
        return not self.is_fenced and not self.is_shutting_down


class BrokerSessions:
    """The time of each broker's last heartbeat, and its metadata offset."""

    __slots__ = ("_sessions", "_timeout_ms")

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._sessions: dict[BrokerId, _Session] = {}

    def is_valid(self, broker_id: BrokerId, now: TimeMs) -> bool:
        """True if the last heartbeat is within `broker.session.timeout.ms`, fenced or not."""
        session = self._sessions.get(broker_id)
        if session is None or session.heard_at is None:
            return False
        return now - session.heard_at <= self._timeout_ms

    def begin(self, broker_id: BrokerId, *, is_fenced: bool, is_same: bool) -> None:
        """Begin the session of a broker that has registered; `is_same`: the same incarnation again.

        A registration is no sign of life: until the first heartbeat another broker may register
        with the same id.
        """
        before = self._sessions.get(broker_id) if is_same else None
        session = _Session(None if before is None else before.heard_at, is_fenced)
        if before is not None and not is_fenced:
            session.shut_down_offset = before.shut_down_offset
        self._sessions[broker_id] = session

    def touch(
        self, broker_id: BrokerId, now: TimeMs, *, is_fenced: bool, metadata_offset: int
    ) -> None:
        """Note a heartbeat. A fenced broker need not wait for anything before it shuts down."""
        session = self._sessions[broker_id]
        session.heard_at, session.is_fenced = now, is_fenced
        session.metadata_offset = metadata_offset
        if is_fenced:
            session.shut_down_offset = -1

    def fence(self, broker_id: BrokerId) -> None:
        """Fence a broker that has sent no heartbeat for too long."""
        session = self._sessions[broker_id]
        session.is_fenced, session.shut_down_offset = True, -1

    def forget(self, broker_id: BrokerId) -> None:
        """Remove the session of a broker that is no longer registered."""
        self._sessions.pop(broker_id, None)

    def stale(self, now: TimeMs) -> BrokerId | None:
        """Return the unfenced broker with the oldest heartbeat if its session has expired, else
        None.
        """
        heard_at = {
            one: session.heard_at
            for one, session in self._sessions.items()
            if not session.is_fenced and session.heard_at is not None
        }
        if not heard_at:
            return None
        longest = min(heard_at, key=lambda one: heard_at[one])
        return None if self.is_valid(longest, now) else longest

    def await_shutdown(self, broker_id: BrokerId, metadata_offset: int) -> None:
        """Begin a shutdown: the broker may stop once all active ones have read to this offset."""
        session = self._sessions[broker_id]
        if not session.is_shutting_down:
            session.shut_down_offset = metadata_offset

    def is_shutting_down(self, broker_id: BrokerId) -> bool:
        """True if the broker has begun its controlled shutdown and may not stop yet."""
        session = self._sessions.get(broker_id)
        return session is not None and session.is_shutting_down

    def next_phase(
        self, broker_id: BrokerId, wish: Wish, registered_at: int, *, leads: bool
    ) -> BrokerPhase:
        """Return the broker's next phase; `registered_at` is the offset of its registration."""
        session = self._sessions[broker_id]
        if session.is_shutting_down:
            must_stay = leads or session.shut_down_offset > self._lowest_offset()
            return BrokerPhase.CONTROLLED_SHUTDOWN if must_stay else BrokerPhase.SHUTDOWN_NOW
        if session.is_fenced:
            if wish.wants_shut_down:
                return BrokerPhase.SHUTDOWN_NOW
            caught_up = wish.metadata_offset >= registered_at
            may_begin = not wish.wants_fence and caught_up
            return BrokerPhase.UNFENCED if may_begin else BrokerPhase.FENCED
        if wish.wants_shut_down:
            leads_on = leads and not wish.wants_fence
            return BrokerPhase.CONTROLLED_SHUTDOWN if leads_on else BrokerPhase.SHUTDOWN_NOW
        return BrokerPhase.FENCED if wish.wants_fence else BrokerPhase.UNFENCED

    def _lowest_offset(self) -> int:
        offsets = [s.metadata_offset for s in self._sessions.values() if s.is_active]
        return min(offsets, default=2**63 - 1)

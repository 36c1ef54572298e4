"""The heartbeats that the controller has received from each broker, and the states they lead to.

Source: class BrokerHeartbeatManager; KIP-631. Sessions are not in the metadata log: a new
controller begins them anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from harness.base.ids import BrokerId, TimeMs
from harness.reference_broker.state.controller.broker_states import (
    BrokerControlState,
    BrokerEvent,
    next_state,
)


class Wish(NamedTuple):
    """The content of a heartbeat."""

    metadata_offset: int
    wants_fence: bool
    wants_shut_down: bool


@dataclass(slots=True)
class _Session:
    """`shut_down_offset` is the offset that all active brokers must read; only in a shutdown."""

    heard_at: TimeMs | None
    state: BrokerControlState
    metadata_offset: int = -1
    shut_down_offset: int = -1


class BrokerSessions:
    """The state of each broker, the time of its last heartbeat, and its metadata offset."""

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

    def state_of(self, broker_id: BrokerId) -> BrokerControlState:
        """Return the state of a broker; a broker without a session is unregistered."""
        session = self._sessions.get(broker_id)
        return BrokerControlState.UNREGISTERED if session is None else session.state

    def begin(self, broker_id: BrokerId, *, is_same: bool) -> None:
        """Begin the session of a broker that has registered; `is_same`: the same incarnation again.

        A registration is no sign of life: until the first heartbeat another broker may register
        with the same id.
        """
        event = BrokerEvent.REGISTERED_AGAIN if is_same else BrokerEvent.REGISTERED
        session = _Session(None, next_state(self.state_of(broker_id), event))
        before = self._sessions.get(broker_id) if is_same else None
        if before is not None:
            session.heard_at, session.shut_down_offset = before.heard_at, before.shut_down_offset
        self._sessions[broker_id] = session

    def load(self, broker_id: BrokerId, now: TimeMs, *, is_fenced: bool) -> None:
        """Begin the session of a registered broker at a new controller; a fenced one has none until
        its first heartbeat.
        """
        event = BrokerEvent.LOADED_FENCED if is_fenced else BrokerEvent.LOADED_UNFENCED
        heard_at = None if is_fenced else now
        self._sessions[broker_id] = _Session(heard_at, next_state(self.state_of(broker_id), event))

    def touch(self, broker_id: BrokerId, now: TimeMs, metadata_offset: int) -> None:
        """Note the time of a heartbeat, and how far the broker has read the metadata."""
        session = self._sessions[broker_id]
        session.heard_at, session.metadata_offset = now, metadata_offset

    def apply(self, broker_id: BrokerId, event: BrokerEvent) -> None:
        """Enter the state that follows this event. Raises IllegalTransitionError."""
        session = self._sessions[broker_id]
        session.state = next_state(session.state, event)

    def forget(self, broker_id: BrokerId) -> None:
        """Remove the session of a broker that is no longer registered."""
        self.apply(broker_id, BrokerEvent.UNREGISTERED)
        del self._sessions[broker_id]

    def stale(self, now: TimeMs) -> BrokerId | None:
        """Return the unfenced broker with the oldest heartbeat if its session has expired, else
        None.
        """
        heard_at = {
            one: session.heard_at
            for one, session in self._sessions.items()
            if session.state is not BrokerControlState.FENCED and session.heard_at is not None
        }
        if not heard_at:
            return None
        longest = min(heard_at, key=lambda one: heard_at[one])
        return None if self.is_valid(longest, now) else longest

    def await_shutdown(self, broker_id: BrokerId, metadata_offset: int) -> None:
        """Begin a shutdown: the broker may stop once all active ones have read to this offset.

        A shutdown that has begun keeps its offset.
        """
        if self.state_of(broker_id) is not BrokerControlState.CONTROLLED_SHUTDOWN:
            self.apply(broker_id, BrokerEvent.SHUTDOWN_BEGINS)
            self._sessions[broker_id].shut_down_offset = metadata_offset

    def event_of(
        self, broker_id: BrokerId, wish: Wish, registered_at: int, *, leads: bool
    ) -> BrokerEvent:
        """Return the event that a heartbeat is; `registered_at` is the offset of the registration.

        `leads`: the broker leads a partition.
        """
        session = self._sessions[broker_id]
        if session.state is BrokerControlState.CONTROLLED_SHUTDOWN:
            must_stay = leads or session.shut_down_offset > self._lowest_offset()
            return BrokerEvent.NO_CHANGE if must_stay else BrokerEvent.MAY_STOP
        if session.state is BrokerControlState.FENCED:
            if wish.wants_shut_down:
                return BrokerEvent.MAY_STOP
            is_ready = not wish.wants_fence and wish.metadata_offset >= registered_at
            return BrokerEvent.CAUGHT_UP if is_ready else BrokerEvent.NO_CHANGE
        if wish.wants_shut_down:
            leads_on = leads and not wish.wants_fence
            return BrokerEvent.SHUTDOWN_BEGINS if leads_on else BrokerEvent.MAY_STOP
        return BrokerEvent.FENCE_WANTED if wish.wants_fence else BrokerEvent.NO_CHANGE

    def _lowest_offset(self) -> int:
        offsets = [
            session.metadata_offset
            for session in self._sessions.values()
            if session.state is BrokerControlState.UNFENCED
        ]
        return min(offsets, default=2**63 - 1)

"""The state machine of a broker, as the controller knows it.

Theory of operation. A broker registers with the controller and then sends heartbeats. The
registration and the fences are in the metadata log, where every node reads them; the times and the
metadata offsets of the heartbeats are known to the active controller alone.

A registered broker begins fenced: it leads no partition, is in no ISR, and clients do not see it.
It is unfenced when a heartbeat shows that it has read the metadata up to its own registration, so
it knows of every partition that it may have to lead. It is fenced again at its own request, or when
no heartbeat has come for `broker.session.timeout.ms`.

A broker that leads partitions and wants to stop goes through a controlled shutdown. The controller
takes it out of the ISRs and gives its partitions to other leaders, and the broker serves on. It may
stop when it leads no partition and every unfenced broker has read the metadata up to these changes.
A broker that leads no partition, or is fenced, may stop at once. The answer to its heartbeat then
is "shut down" (SHUTDOWN_NOW in Kafka), and the controller fences it with that answer, so it waits
for no session to end.

The next incarnation of a broker takes the place of the last one in any state, and begins fenced.
Only a session that is alive protects a broker from that, also one that shuts down:
`registration_records` refuses the registration, and no event occurs. The same incarnation may
register again, which changes no state.

A new controller reads the registrations and begins the sessions anew. It does not know how far the
others have read: a broker in controlled shutdown begins as unfenced, and its next heartbeat begins
the shutdown again.

``TRANSITIONS`` has each state with the events that may occur in it and the state that follows. An
event that is not in the table raises IllegalTransitionError, a defect of the controller.
docs/broker-states.md shows the same table as a diagram.

Source: BrokerControlState, BrokerHeartbeatManager.calculateNextBrokerState and
ClusterControlManager of Kafka 4.0.2; KIP-631.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from harness.reference_broker.state.transitions import state_after


class BrokerControlState(Enum):
    """The states of a broker, with the names that the diagram has."""

    UNREGISTERED = "Unregistered"
    FENCED = "Fenced"
    UNFENCED = "Unfenced"
    CONTROLLED_SHUTDOWN = "ControlledShutdown"


class BrokerEvent(Enum):
    """The events that change the state of a broker, in the words of the diagram."""

    REGISTERED = "a new incarnation registers"
    REGISTERED_AGAIN = "the same incarnation registers again"
    LOADED_FENCED = "a new controller reads a fenced registration"
    LOADED_UNFENCED = "a new controller reads an unfenced registration"
    NO_CHANGE = "a heartbeat keeps the state"
    CAUGHT_UP = "a heartbeat has read the metadata up to the registration"
    FENCE_WANTED = "a heartbeat wants a fence"
    SHUTDOWN_BEGINS = "a heartbeat wants a shutdown, and the broker leads partitions"
    MAY_STOP = "a heartbeat wants a shutdown, and the broker may stop"
    SESSION_ENDED = "no heartbeat came for a session"
    UNREGISTERED = "the broker is unregistered"


_Transitions = Mapping[BrokerControlState, Mapping[BrokerEvent, BrokerControlState]]

TRANSITIONS: _Transitions = MappingProxyType(
    {
        BrokerControlState.UNREGISTERED: {
            BrokerEvent.REGISTERED: BrokerControlState.FENCED,
            BrokerEvent.LOADED_FENCED: BrokerControlState.FENCED,
            BrokerEvent.LOADED_UNFENCED: BrokerControlState.UNFENCED,
        },
        BrokerControlState.FENCED: {
            BrokerEvent.REGISTERED: BrokerControlState.FENCED,
            BrokerEvent.REGISTERED_AGAIN: BrokerControlState.FENCED,
            BrokerEvent.NO_CHANGE: BrokerControlState.FENCED,
            BrokerEvent.CAUGHT_UP: BrokerControlState.UNFENCED,
            BrokerEvent.MAY_STOP: BrokerControlState.FENCED,
            BrokerEvent.UNREGISTERED: BrokerControlState.UNREGISTERED,
        },
        BrokerControlState.UNFENCED: {
            BrokerEvent.REGISTERED: BrokerControlState.FENCED,
            BrokerEvent.REGISTERED_AGAIN: BrokerControlState.UNFENCED,
            BrokerEvent.NO_CHANGE: BrokerControlState.UNFENCED,
            BrokerEvent.FENCE_WANTED: BrokerControlState.FENCED,
            BrokerEvent.SHUTDOWN_BEGINS: BrokerControlState.CONTROLLED_SHUTDOWN,
            BrokerEvent.MAY_STOP: BrokerControlState.FENCED,
            BrokerEvent.SESSION_ENDED: BrokerControlState.FENCED,
            BrokerEvent.UNREGISTERED: BrokerControlState.UNREGISTERED,
        },
        BrokerControlState.CONTROLLED_SHUTDOWN: {
            BrokerEvent.REGISTERED: BrokerControlState.FENCED,
            BrokerEvent.REGISTERED_AGAIN: BrokerControlState.CONTROLLED_SHUTDOWN,
            BrokerEvent.NO_CHANGE: BrokerControlState.CONTROLLED_SHUTDOWN,
            BrokerEvent.MAY_STOP: BrokerControlState.FENCED,
            BrokerEvent.SESSION_ENDED: BrokerControlState.FENCED,
            BrokerEvent.UNREGISTERED: BrokerControlState.UNREGISTERED,
        },
    }
)
"""State -> event -> next state."""


def next_state(state: BrokerControlState, event: BrokerEvent) -> BrokerControlState:
    """Return the state after an event. Raises IllegalTransitionError."""
    return state_after(TRANSITIONS, state, event, "broker")

"""The state machine of a partition's leadership, as the controller decides it.

Theory of operation. A partition is online while it has a leader, and clients read and write at that
leader alone. When the leader is fenced, stops, is reassigned or loses its log directory, the
controller elects another one; if no broker may lead, the partition is offline until one may.

An election is clean if the new leader is in the ISR, or in the ELR while the ISR is empty: it
has all committed records. Otherwise it is unclean, and committed records may be lost. The
new leader alone is then in sync, and the partition is recovering: the leader may first have to
repair its state, and the ISR does not grow until the leader reports in AlterPartition that it has
recovered (KIP-704). A leader that is lost before that leaves a partition that is offline and still
has to recover, whichever broker leads it next.

``TRANSITIONS`` has each state with the events that may occur in it and the state that follows. The
record of a change gets its recovery state from it. An event that is not in the table raises
IllegalTransitionError, a defect of the controller. docs/elections.md shows the same table as a
diagram; `leader_election.py` has the rules that find the leader.

Source: PartitionChangeBuilder, LeaderRecoveryState of Kafka 4.0.2; KIP-704, KIP-966.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from harness.reference_broker.state.registrations.partition_registration import NO_LEADER
from harness.reference_broker.state.transitions import state_after

if TYPE_CHECKING:
    from harness.reference_broker.state.registrations.partition_registration import (
        PartitionRegistration,
    )


class LeadershipState(Enum):
    """The states of a partition's leadership, with the names that the diagram has."""

    ONLINE = "Online"
    OFFLINE = "Offline"
    RECOVERING = "Recovering"
    OFFLINE_RECOVERING = "OfflineRecovering"

    @property
    def is_recovering(self) -> bool:
        """True after an unclean election until a leader reports that it has recovered."""
        return self in (LeadershipState.RECOVERING, LeadershipState.OFFLINE_RECOVERING)


class LeadershipEvent(Enum):
    """The events that change the state of a leadership, in the words of the diagram."""

    CLEANLY_ELECTED = "a leader with all committed records is elected"
    UNCLEANLY_ELECTED = "a leader that may lack committed records is elected"
    LEADER_LOST = "the leader may not lead, and no broker is elected"
    RECOVERED = "the leader reports that it has recovered"


_Transitions = Mapping[LeadershipState, Mapping[LeadershipEvent, LeadershipState]]

TRANSITIONS: _Transitions = MappingProxyType(
    {
        LeadershipState.ONLINE: {
            LeadershipEvent.CLEANLY_ELECTED: LeadershipState.ONLINE,
            LeadershipEvent.UNCLEANLY_ELECTED: LeadershipState.RECOVERING,
            LeadershipEvent.LEADER_LOST: LeadershipState.OFFLINE,
        },
        LeadershipState.OFFLINE: {
            LeadershipEvent.CLEANLY_ELECTED: LeadershipState.ONLINE,
            LeadershipEvent.UNCLEANLY_ELECTED: LeadershipState.RECOVERING,
        },
        LeadershipState.RECOVERING: {
            LeadershipEvent.CLEANLY_ELECTED: LeadershipState.RECOVERING,
            LeadershipEvent.UNCLEANLY_ELECTED: LeadershipState.RECOVERING,
            LeadershipEvent.LEADER_LOST: LeadershipState.OFFLINE_RECOVERING,
            LeadershipEvent.RECOVERED: LeadershipState.ONLINE,
        },
        LeadershipState.OFFLINE_RECOVERING: {
            LeadershipEvent.CLEANLY_ELECTED: LeadershipState.RECOVERING,
            LeadershipEvent.UNCLEANLY_ELECTED: LeadershipState.RECOVERING,
            LeadershipEvent.RECOVERED: LeadershipState.OFFLINE,
        },
    }
)
"""State -> event -> next state.

One report of a leader may be LEADER_LOST and RECOVERED in this order: the leader has recovered, and
its log directory has just failed.
"""


def next_state(state: LeadershipState, event: LeadershipEvent) -> LeadershipState:
    """Return the state after an event. Raises IllegalTransitionError."""
    return state_after(TRANSITIONS, state, event, "partition")


def leadership_of(registered: PartitionRegistration) -> LeadershipState:
    """Return the state of a registered partition."""
    if registered.leader == NO_LEADER:
        is_recovering = registered.is_recovering
        return LeadershipState.OFFLINE_RECOVERING if is_recovering else LeadershipState.OFFLINE
    return LeadershipState.RECOVERING if registered.is_recovering else LeadershipState.ONLINE

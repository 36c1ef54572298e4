"""The state machine of a classic group.

Theory of operation. A group exists for its members, for its committed offsets, or for both. The
members of one generation share the partitions by the assignment that their leader has sent. Each
change of the members makes a rebalance necessary, which has two phases. In the join phase all
members send JoinGroup again; it ends when all have joined or the rebalance timeout has passed, and
begins a generation. In the sync phase all members send SyncGroup; it ends when the leader's
SyncGroup brings the assignments. A group without members keeps its offsets and can be joined again.

``TRANSITIONS`` has each state with the events that may occur in it and the state that follows. An
event that is not in the table cannot occur: `next_state` raises IllegalTransitionError, which is a
defect of the coordinator and never an answer to a client. docs/groups.md shows the same table as a
diagram.

Source: ClassicGroupState and ClassicGroup.transitionTo of Kafka 4.0.2, GroupState of 3.9.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from harness.reference_broker.state.transitions import state_after


class GroupState(Enum):
    """The states of a group, with their names in DescribeGroups."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class GroupEvent(Enum):
    """The events that change the state of a group, in the words of the diagram."""

    REBALANCE_BEGINS = "a member joins, changes, leaves or expires"
    GENERATION_BEGINS = "the join phase ends with members"
    MEMBERS_GONE = "the join phase ends without members"
    ASSIGNED = "the leader sends the assignments, and they are stored"
    LOADED_WITH_MEMBERS = "a new coordinator reads a stored generation with members"
    LOADED_EMPTY = "a new coordinator reads a stored group without members"
    REMOVED = "the group is deleted, or has neither members nor offsets"


_Transitions = Mapping[GroupState, Mapping[GroupEvent, GroupState]]

TRANSITIONS: _Transitions = MappingProxyType(
    {
        GroupState.EMPTY: {
            GroupEvent.REBALANCE_BEGINS: GroupState.PREPARING_REBALANCE,
            GroupEvent.LOADED_WITH_MEMBERS: GroupState.STABLE,
            GroupEvent.LOADED_EMPTY: GroupState.EMPTY,
            GroupEvent.REMOVED: GroupState.DEAD,
        },
        GroupState.PREPARING_REBALANCE: {
            GroupEvent.GENERATION_BEGINS: GroupState.COMPLETING_REBALANCE,
            GroupEvent.MEMBERS_GONE: GroupState.EMPTY,
        },
        GroupState.COMPLETING_REBALANCE: {
            GroupEvent.ASSIGNED: GroupState.STABLE,
            GroupEvent.REBALANCE_BEGINS: GroupState.PREPARING_REBALANCE,
        },
        GroupState.STABLE: {
            GroupEvent.REBALANCE_BEGINS: GroupState.PREPARING_REBALANCE,
        },
        GroupState.DEAD: {},
    }
)
"""State -> event -> next state."""


def next_state(state: GroupState, event: GroupEvent) -> GroupState:
    """Return the state after an event. Raises IllegalTransitionError."""
    return state_after(TRANSITIONS, state, event, "group")

"""Elections that a client requests, or that the controller holds itself from time to time.

Source: class ReplicationControlManager (electLeader, maybeBalancePartitionLeaders,
maybeElectUncleanLeaders); KIP-183, KIP-460.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.controller.circumstances import changed, partitions_where
from harness.reference_broker.state.controller.leader_election import Election
from harness.reference_broker.state.controller.partition_change import TargetReplicas
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER

if TYPE_CHECKING:
    from harness.codec.messages import PartitionChangeRecord
    from harness.codec.structs import Message
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.registrations.partition_registration import (
        PartitionRegistration,
    )
    from harness.reference_broker.state.topics.topic import TopicState


class _Request(NamedTuple):
    """An election that a client may request.

    `is_needless`: True if the partition has such a leader already. `error`: no broker may lead.
    """

    is_needless: Callable[[PartitionRegistration], bool]
    error: ErrorCode


_REQUESTS = {
    Election.PREFERRED: _Request(
        lambda registered: registered.has_preferred_leader,
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
    ),
    Election.UNCLEAN: _Request(
        lambda registered: registered.leader != NO_LEADER,
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
    ),
}


def elected(
    state: BrokerState, topic: TopicState, partition: Partition, election: Election
) -> PartitionChangeRecord | ErrorCode:
    """Return the record of an election, or the error if no leader is elected."""
    request = _REQUESTS[election]
    if request.is_needless(partition.registration):
        return ErrorCode.ELECTION_NOT_NEEDED
    return changed(state, topic, partition, TargetReplicas(), election) or request.error


def preferred_leaders(state: BrokerState) -> list[Message]:
    """Return the records that give partitions back to their preferred leaders
    (auto.leader.rebalance.enable).
    """
    found = [
        changed(state, topic, partition, TargetReplicas(), Election.PREFERRED)
        for topic, partition in partitions_where(state, lambda one: not one.has_preferred_leader)
    ]
    return [record for record in found if record is not None]


def unclean_leaders(state: BrokerState) -> list[Message]:
    """Return records that elect leaders, also unclean ones, for partitions without a leader; only
    for topics that allow unclean elections.
    """
    found = [
        elected(state, topic, partition, Election.UNCLEAN)
        for topic, partition in partitions_where(state, lambda one: one.leader == NO_LEADER)
        if topic.config.elects_unclean
    ]
    return [record for record in found if not isinstance(record, ErrorCode)]

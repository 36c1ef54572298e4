"""Changes of the ISR that leaders propose.

Source: class ReplicationControlManager (alterPartition); KIP-497, KIP-704, KIP-841, KIP-903.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.base.ids import BrokerId
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.controller.circumstances import changed
from harness.reference_broker.state.controller.partition_change import TargetReplicas
from harness.reference_broker.state.partition.leading import ANY_EPOCH
from harness.reference_broker.state.registrations.brokers import Brokers
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER_CHANGE

if TYPE_CHECKING:
    from harness.codec.messages import PartitionChangeRecord
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.registrations.partition_registration import (
        PartitionRegistration,
    )
    from harness.reference_broker.state.topics.topic import TopicState


@dataclass(frozen=True, slots=True)
class Proposal:
    """The ISR that a leader proposes; `isr` are pairs of broker id and broker epoch."""

    sender: BrokerId
    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[BrokerId, int], ...]
    is_recovering: bool

    @property
    def members(self) -> tuple[BrokerId, ...]:
        """The broker ids of the proposed ISR."""
        return tuple(broker_id for broker_id, _ in self.isr)


def problem_with(
    proposal: Proposal, registered: PartitionRegistration, brokers: Brokers
) -> ErrorCode:
    """Return the error of a proposal, NONE if it is valid (validateAlterPartitionData)."""
    is_ahead = (
        proposal.leader_epoch > registered.leader_epoch
        or proposal.partition_epoch > registered.partition_epoch
    )
    members = proposal.members
    are_eligible = all(_is_eligible(*one, brokers) for one in proposal.isr)
    refusals = (
        (is_ahead, ErrorCode.NOT_CONTROLLER),
        (proposal.leader_epoch < registered.leader_epoch, ErrorCode.FENCED_LEADER_EPOCH),
        (proposal.sender != registered.leader, ErrorCode.INVALID_REQUEST),
        (proposal.partition_epoch < registered.partition_epoch, ErrorCode.INVALID_UPDATE_VERSION),
        (not _is_subset(members, registered), ErrorCode.INVALID_REQUEST),
        (registered.leader not in members, ErrorCode.INVALID_REQUEST),
        (proposal.is_recovering and len(members) > 1, ErrorCode.INVALID_REQUEST),
        (proposal.is_recovering and not registered.is_recovering, ErrorCode.INVALID_REQUEST),
        (
            not are_eligible,
            ErrorCode.INELIGIBLE_REPLICA,
        ),
    )
    return next((error for is_wrong, error in refusals if is_wrong), ErrorCode.NONE)


def _is_subset(members: tuple[BrokerId, ...], registered: PartitionRegistration) -> bool:
    """True if each member is a replica and occurs once (Replicas.validateIsr)."""
    no_repetition = len(set(members)) == len(members)
    return bool(members) and no_repetition and set(members) <= set(registered.replicas)


def _is_eligible(broker_id: BrokerId, epoch: int, brokers: Brokers) -> bool:
    registered = brokers.get(broker_id)
    if registered is None or not brokers.is_active(broker_id):
        return False
    return epoch in (ANY_EPOCH, registered.epoch)


def isr_change(
    state: BrokerState, topic: TopicState, partition: Partition, proposal: Proposal
) -> PartitionChangeRecord | None:
    """Return the record of a valid proposal; None if it changes nothing."""
    has_recovered = partition.registration.is_recovering and not proposal.is_recovering
    target = TargetReplicas(isr=proposal.members, has_recovered=has_recovered)
    return changed(state, topic, partition, target)


def moves_leader(record: PartitionChangeRecord, sender: BrokerId) -> bool:
    """True if the change gives the partition another leader: it has completed a reassignment."""
    return record.leader not in (NO_LEADER_CHANGE, sender)

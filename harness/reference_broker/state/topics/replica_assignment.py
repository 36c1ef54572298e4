"""The checks of a client's replica assignment, and the registration of a new partition.

Source: class ReplicationControlManager (validateManualPartitionAssignment,
buildPartitionRegistration).
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.registrations.brokers import Brokers
from harness.reference_broker.state.registrations.directory_ids import MIGRATING, UNASSIGNED
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.creation_refused import CreationRefused


def check_replicas(replicas: Sequence[int], expected_count: int | None, brokers: Brokers) -> None:
    """Check that `expected_count` different brokers are assigned and registered.

    None accepts any count. Raises CreationRefused.
    """
    if not replicas:
        raise bad_assignment("An assignment has to name at least one broker.")
    unknown = [broker for broker in sorted(replicas) if brokers.get(broker) is None]
    if unknown:
        raise bad_assignment(f"There is no broker {unknown[0]}.")
    if len(set(replicas)) != len(replicas):
        raise bad_assignment("An assignment may name a broker only once.")
    if expected_count is not None and len(replicas) != expected_count:
        raise bad_assignment("All partitions need the same number of replicas.")


def new_partition(
    replicas: Sequence[int], brokers: Brokers, refusal: CreationRefused
) -> PartitionRegistration:
    """Return a new registration with the active replicas in sync; raise `refusal` if none is."""
    active = [broker for broker in replicas if brokers.is_active(broker)]
    if not active:
        raise refusal
    directories = tuple(default_directory(broker, brokers) for broker in replicas)
    return replace(PartitionRegistration.new(replicas, active), directories=directories)


def default_directory(broker_id: int, brokers: Brokers) -> UUID:
    """Return the only directory of a broker; UNASSIGNED if it has several.

    Source: class ClusterControlManager (defaultDir).
    """
    registered = brokers.get(broker_id)
    if registered is None:
        return UNASSIGNED
    known = registered.directories or (MIGRATING,)
    return known[0] if len(known) == 1 else UNASSIGNED


def bad_assignment(message: str) -> CreationRefused:
    """Return INVALID_REPLICA_ASSIGNMENT with a text."""
    return CreationRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def none_active(partition: int) -> CreationRefused:
    """Return the refusal of an assignment without a broker that can lead."""
    return bad_assignment(
        f"All brokers that are assigned to partition {partition} are fenced or shut down."
    )

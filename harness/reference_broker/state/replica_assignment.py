"""Which replicas a client may give a partition.

Source: class ReplicationControlManager (validateManualPartitionAssignment).
"""

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.ids import BrokerId
from harness.reference_broker.state.creation_refused import CreationRefused


def check_replicas(brokers: Sequence[int], expected_count: int | None, own: BrokerId) -> None:
    """Refuse what is not `own`, once, `expected_count` times. Raises CreationRefused."""
    if not brokers:
        raise bad_assignment("An assignment has to name at least one broker.")
    unknown = [broker for broker in brokers if broker != own]
    if unknown:
        raise bad_assignment(f"There is no broker {unknown[0]}.")
    if len(set(brokers)) != len(brokers):
        raise bad_assignment("An assignment may name a broker only once.")
    if expected_count is not None and len(brokers) != expected_count:
        raise bad_assignment("All partitions need the same number of replicas.")


def bad_assignment(message: str) -> CreationRefused:
    """INVALID_REPLICA_ASSIGNMENT with a text."""
    return CreationRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)

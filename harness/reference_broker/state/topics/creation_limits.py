"""Limits for the creations of one request: a larger request fails as a whole.

It fails before the broker plans the changes, or during that. Source: class
ReplicationControlManager (validateTotalNumberOfPartitions), class BoundedList; the bound is
QuorumController.MAX_RECORDS_PER_USER_OP.
"""

from collections.abc import Iterable

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.topics.creation_refused import CreationRefused

_MOST = 10_000


def check_partitions_asked(counts: Iterable[int]) -> None:
    """Raise CreationRefused if a request asks for too many partitions.

    Partitions of invalid topics count too; a count that is not above 0 does not.
    """
    if sum(count for count in counts if count > 0) > _MOST:
        raise CreationRefused(
            ErrorCode.POLICY_VIOLATION, f"A request may ask for {_MOST} partitions at most."
        )


def check_changes(counts: Iterable[int]) -> None:
    """Raise CreationRefused if a request makes too many changes.

    Each topic, each partition and each config is one change.
    """
    if sum(counts) > _MOST:
        raise CreationRefused(
            ErrorCode.POLICY_VIOLATION, f"A request may make {_MOST} changes at most."
        )

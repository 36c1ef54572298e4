"""How much one request may create: more fails as a whole, before or while it is worked out.

Source: class ReplicationControlManager (validateTotalNumberOfPartitions), class BoundedList;
the bound is QuorumController.MAX_RECORDS_PER_USER_OP.
"""

from collections.abc import Iterable

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.creation_refused import CreationRefused

_MOST = 10_000


def check_partitions_asked(counts: Iterable[int]) -> None:
    """The partitions that a request asks for, sound or not; what is not above 0 does not count."""
    if sum(count for count in counts if count > 0) > _MOST:
        raise CreationRefused(
            ErrorCode.POLICY_VIOLATION, f"A request may ask for {_MOST} partitions at most."
        )


def check_changes(counts: Iterable[int]) -> None:
    """The changes that a request makes: one for each topic, partition and config."""
    if sum(counts) > _MOST:
        raise CreationRefused(
            ErrorCode.POLICY_VIOLATION, f"A request may make {_MOST} changes at most."
        )

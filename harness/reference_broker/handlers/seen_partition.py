"""A partition as clients of a listener see it. Source: class KRaftMetadataCache."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.base.ids import BrokerId
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.randomness import below
from harness.reference_broker.state.registrations.partition_registration import (
    NO_LEADER,
    PartitionRegistration,
)

_FIRST_VERSION_WITH_LISTENER_ERROR = 6


class SeenPartition(NamedTuple):
    """`offline` are the replicas on brokers that cannot be reached, or in log directories that have
    failed (KIP-858).
    """

    leader_id: BrokerId
    error: ErrorCode
    offline: list[int]


def seen_partition(registered: PartitionRegistration, context: RequestContext) -> SeenPartition:
    """Return the leader, if it can be reached, and the replicas that are offline."""
    state, listener = context.state, context.listener
    offline: list[int] = [
        each
        for each in registered.replicas
        if state.endpoint_of(each, listener) is None
        or not state.brokers.has_online(each, registered.directory_of(each))
    ]
    leader = registered.leader
    if state.endpoint_of(leader, listener) is not None:
        return SeenPartition(leader, ErrorCode.NONE, offline)
    known = state.brokers.get(leader)
    lacks_listener = known is not None and not known.is_fenced
    if lacks_listener and context.api_version >= _FIRST_VERSION_WITH_LISTENER_ERROR:
        return SeenPartition(NO_LEADER, ErrorCode.LISTENER_NOT_FOUND, offline)
    return SeenPartition(NO_LEADER, ErrorCode.LEADER_NOT_AVAILABLE, offline)


def any_broker(alive: Sequence[BrokerId], context: RequestContext) -> BrokerId:
    """Return any live broker as the controller: each forwards to the real one (KIP-590)."""
    return alive[below(len(alive), context.randomness)] if alive else NO_LEADER

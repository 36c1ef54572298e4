"""The reader of a fetch: a consumer, a debugger, a follower, or an observer of the metadata.

Source: classes KafkaApis (handleFetchRequest), ReplicaManager, FetchRequest (replica ids).
"""

from __future__ import annotations

from collections.abc import Callable

from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.handlers.rights import (
    CLUSTER_ACTION,
    READ,
    TOPIC,
    may,
    may_cluster,
)
from harness.reference_broker.state.fetch.fetch_sessions import WantedPartition

_DEBUGGER = -2


def readable(replica_id: int, context: RequestContext) -> Callable[[str], bool] | None:
    """Return the check of the right to read a topic; None without an authorizer.

    A follower needs the right to act for the cluster.
    """
    if context.state.authorizer is None:
        return None
    if replica_id < 0:
        return lambda name: may(context, READ, TOPIC, name)
    allowed = may_cluster(context, CLUSTER_ACTION)
    return lambda _: allowed


def debugs(replica_id: int, context: RequestContext) -> bool:
    """True for a debugger before 2.4: only such readers could read from a follower (KIP-392)."""
    return replica_id == _DEBUGGER and not context.state.like.since(2, 4)


def observes_metadata(wanted: list[WantedPartition], context: RequestContext) -> bool:
    """True if only the controller's log is fetched: a broker that fetches it is no replica."""
    log = context.state.cluster.unlisted
    return log is not None and {want.key[0] for want in wanted} in ({log.name}, {log.topic_id})

"""The replica that a leader refers a consumer to: one in the consumer's rack (KIP-392).

Source: classes ReplicaManager (findPreferredReadReplica) and RackAwareReplicaSelector.
"""

from harness.base.ids import BrokerId, TimeMs
from harness.reference_broker.state.partition.partition import Partition


def preferred_replica(
    partition: Partition, rack: str, fetch_offset: int, now: TimeMs
) -> BrokerId | None:
    """Return a follower that has the offset and is in the rack; None for the leader itself.

    Since 3.3.2 it must be in the ISR. Of several, the one with the highest log end offset, then the
    last to catch up.
    """
    leading, host = partition.leading, partition.host
    if leading is None or not rack or not host.rules.selects_by_rack:
        return None

    def is_in_rack(broker_id: BrokerId) -> bool:
        registered = host.brokers.get(broker_id)
        return registered is not None and not registered.is_fenced and registered.rack == rack

    if is_in_rack(host.own):
        return None
    candidates = {
        broker_id: follower
        for broker_id, follower in leading.followers.items()
        if (broker_id in leading.isr or not host.rules.selects_in_sync)
        and follower.end_offset >= fetch_offset >= follower.start_offset
        and is_in_rack(broker_id)
    }
    if not candidates:
        return None
    return max(
        candidates,
        key=lambda one: (candidates[one].end_offset, candidates[one].caught_up_at - now, -one),
    )

"""The quota on the replication traffic of one broker, as a leader or as a follower (KIP-73).

Topics list the replicas that are throttled, brokers have a rate. All traffic of listed replicas
counts, that of replicas in sync too. While the rate is exceeded, those that are not in sync wait.

Source: classes ReplicationQuotaManager, TopicConfigHandler (parseThrottledPartitions).
"""

from __future__ import annotations

from harness.base.ids import BrokerId, PartitionIndex, TimeMs
from harness.reference_broker.state.config_definitions.layers import BrokerConfigLayers
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.quotas.rate import SimpleRate

LEADER, FOLLOWER = "leader", "follower"
_EVERY_REPLICA = "*"


class ReplicationQuota:
    """Of one role: ``LEADER`` or ``FOLLOWER``. ``configs`` are those of the broker."""

    def __init__(self, role: str, configs: BrokerConfigLayers) -> None:
        self._rate_name = f"{role}.replication.throttled.rate"
        self._list_name = f"{role}.replication.throttled.replicas"
        self._configs = configs
        self._rate = SimpleRate()

    def is_listed(self, topic: TopicConfig, index: PartitionIndex, broker_id: BrokerId) -> bool:
        """True if a topic lists the replica of a partition at a broker."""
        listed = topic.overrides.get(self._list_name)
        if not listed:
            return False
        pairs = [one.strip() for one in listed.split(",")]
        return _EVERY_REPLICA in pairs or f"{index}:{broker_id}" in pairs

    def record(self, size_bytes: int, now: TimeMs) -> None:
        """Count the bytes of a listed replica."""
        if size_bytes:
            self._rate.record(size_bytes, now)

    def is_exceeded(self, now: TimeMs) -> bool:
        """True if the bytes of the last seconds are above the rate, if there is one."""
        limit = self._configs.dynamic(self._rate_name)
        return limit is not None and self._rate.throttle_ms(int(limit), now) > 0

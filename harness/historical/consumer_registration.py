"""Registration and rebalancing of consumers by watches in ZooKeeper.

"Consumer registration algorithm": a consumer registers under its group and watches three folders. A
change of the group's consumers rebalances that group, a change of the brokers rebalances all
groups, a new topic rebalances the groups in which a filter takes it. "Consumer rebalancing
algorithm": in a rebalance each consumer releases the partitions that it owned and claims those that
range assignment gives it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.historical.partition_owners import Owned, PartitionOwners
from harness.historical.range_assignment import BrokerPartition, range_assignment


class FilterKind(Enum):
    """The topics that a filter takes: those that match the whole expression, or all others."""

    WHITELIST = "white_list"
    BLACKLIST = "black_list"


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """A subscription by regular expression instead of topic names."""

    kind: FilterKind
    pattern: str

    def takes(self, topic: str) -> bool:
        """True if the filter takes the topic."""
        matches = re.fullmatch(self.pattern, topic) is not None
        return matches == (self.kind is FilterKind.WHITELIST)


Subscription = frozenset[str] | TopicFilter


def wants(subscription: Subscription, topic: str) -> bool:
    """True if a consumer with this subscription consumes the topic."""
    if isinstance(subscription, TopicFilter):
        return subscription.takes(topic)
    return topic in subscription


@dataclass(slots=True)
class ConsumerRegistration:
    """The registries as one value; each change returns the groups that it rebalanced.

    ``topics``: the number of partitions of a topic on each broker, whether or not the broker is
    alive.
    """

    topics: dict[str, Mapping[int, int]] = field(default_factory=dict)
    brokers: set[int] = field(default_factory=set)
    groups: dict[str, dict[str, Subscription]] = field(default_factory=dict)
    owners: PartitionOwners = field(default_factory=PartitionOwners)

    def consumer_joins(self, group: str, consumer: str, subscription: Subscription) -> set[str]:
        """Do steps 1 and 5 of the registration; the others of the group see it by their watch."""
        members = self.groups.setdefault(group, {})
        if consumer in members:
            raise ValueError(f"{consumer} is in {group} already")
        members[consumer] = subscription
        return self._rebalance({group})

    def consumer_leaves(self, group: str, consumer: str) -> set[str]:
        """End the consumer's session: its ephemeral nodes go, which the others of the group see."""
        del self.groups[group][consumer]
        self.owners.release(consumer, group)
        return self._rebalance({group})

    def broker_joins(self, broker: int) -> set[str]:
        """Add a node to the broker id registry, which every consumer watches."""
        if broker in self.brokers:
            raise ValueError(f"broker id {broker} is in use already")
        self.brokers.add(broker)
        return self._rebalance(set(self.groups))

    def broker_leaves(self, broker: int) -> set[str]:
        """Remove a node from the broker id registry."""
        self.brokers.remove(broker)
        return self._rebalance(set(self.groups))

    def topic_is_added(self, topic: str, partitions: Mapping[int, int]) -> set[str]:
        """Add a node to the broker topic registry, which only consumers with a filter watch.

        ``partitions``: broker -> its number of partitions of the topic.
        """
        if topic in self.topics:
            raise ValueError(f"topic {topic} is there already")
        self.topics[topic] = dict(partitions)
        filters = {
            group
            for group, members in self.groups.items()
            for one in members.values()
            if isinstance(one, TopicFilter) and one.takes(topic)
        }
        return self._rebalance(filters)

    def partitions_of(self, topic: str) -> list[BrokerPartition]:
        """Return the topic's partitions on live brokers, sorted so that a broker's are together."""
        on_brokers = self.topics.get(topic, {})
        return [
            BrokerPartition(broker, partition)
            for broker in sorted(self.brokers & set(on_brokers))
            for partition in range(on_brokers[broker])
        ]

    def _rebalance(self, groups: set[str]) -> set[str]:
        """Rebalance these groups.

        No consumer has to retry, since all of them release before any of them claims.
        """
        found = {group for group in groups if self.groups.get(group)}
        for group in found:
            for consumer in self.groups[group]:
                self.owners.release(consumer, group)
            for topic in self.topics:
                self._claim(group, topic)
        return found

    def _claim(self, group: str, topic: str) -> None:
        members = self.groups[group]
        takers = [consumer for consumer in members if wants(members[consumer], topic)]
        if not takers:
            return
        for consumer, mine in range_assignment(self.partitions_of(topic), takers).items():
            wanted = [Owned(group, topic, str(partition)) for partition in mine]
            if not self.owners.claim_all(wanted, consumer):
                raise AssertionError(f"{consumer} cannot have {topic}: it was not released")

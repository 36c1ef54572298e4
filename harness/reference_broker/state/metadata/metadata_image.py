"""The effect of each metadata record on a broker: the only way in which its metadata changes.

A standalone broker writes such records to itself; in a cluster the controller writes them to its
log, from which every node reads them. Source: classes MetadataDelta and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from harness.base.ids import PartitionIndex, TimeMs
from harness.reference_broker.state.registrations.brokers import BrokerRegistration
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.topic_names import (
    GROUP_METADATA_TOPIC,
    TRANSACTION_STATE_TOPIC,
)

if TYPE_CHECKING:
    from harness.codec import messages
    from harness.codec.structs import Message
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.topics.topic import TopicState

_CONFIG = "ConfigRecord"
_OF_BROKERS = frozenset(
    {"RegisterBrokerRecord", "UnregisterBrokerRecord", "BrokerRegistrationChangeRecord"}
)


def apply_records(state: BrokerState, records: Sequence[Message], now: TimeMs) -> None:
    """Apply the records, all at once; `state.effects` collects the effects outside of the state.

    Records about brokers are applied first: a leader that receives a smaller ISR then knows the
    fenced brokers, as in class BrokerMetadataPublisher.
    """
    in_order = sorted(records, key=lambda record: type(record).__name__ not in _OF_BROKERS)
    for name, group in groupby(in_order, key=lambda record: type(record).__name__):
        if name == _CONFIG:
            _apply_configs(state, list(group))  # type: ignore[arg-type]
            continue
        apply = _APPLY.get(name)
        for record in group:
            if apply is not None:
                apply(state, record, now)


def begin_replicas(state: BrokerState, now: TimeMs) -> None:
    """Lead and follow partitions from now on: the broker has read all metadata."""
    host = state.cluster.host
    host.has_begun = True
    for name in [] if host.storage is None else host.storage.kept():
        known = state.cluster.with_id(name.topic_id)
        partition = None if known is None else known.partition(name.index)
        if host.storage is not None and (partition is None or not partition.is_here):
            host.storage.set_aside(name)  # deleted or moved while the broker was away
    for topic in list(state.cluster.topics()):
        for partition in topic.partitions:
            _register(state, topic, partition, partition.registration, now)
    if host.storage is not None:
        # Not at the start: brokers that keep nothing need none of it.
        from harness.reference_broker.state.replica_moves.log_moving import resume

        resume(state.cluster, now)


def _topic(state: BrokerState, record: messages.TopicRecord, _now: TimeMs) -> None:
    state.cluster.add_topic(record.name, record.topic_id, state.topic_config({}))


def _topic_removed(state: BrokerState, record: messages.RemoveTopicRecord, now: TimeMs) -> None:
    topic = state.cluster.with_id(record.topic_id)
    if topic is not None:
        state.forget_topic(topic, now)


def _partition(state: BrokerState, record: messages.PartitionRecord, now: TimeMs) -> None:
    topic = state.cluster.with_id(record.topic_id)
    if topic is None:
        return
    registration = PartitionRegistration.read(record)
    existing = topic.partition(record.partition_id)
    if existing is None:
        index = PartitionIndex(record.partition_id)
        existing = state.cluster.add_partition(topic, index, registration, now)
    _register(state, topic, existing, registration, now)


def _partition_changed(
    state: BrokerState, record: messages.PartitionChangeRecord, now: TimeMs
) -> None:
    topic = state.cluster.with_id(record.topic_id)
    partition = None if topic is None else topic.partition(record.partition_id)
    if topic is not None and partition is not None:
        _register(state, topic, partition, partition.registration.changed(record), now)


def _register(
    state: BrokerState,
    topic: TopicState,
    partition: Partition,
    registration: PartitionRegistration,
    now: TimeMs,
) -> None:
    led = partition.leading is not None
    state.effects += partition.register(registration, now)
    leads = partition.leading is not None
    change = _COORDINATE.get(topic.name)
    if change is not None and led != leads:
        change(state, partition, now)


def _coordinate_groups(state: BrokerState, partition: Partition, now: TimeMs) -> None:
    # Not at the start: most brokers lead such a partition from its beginning on.
    from harness.reference_broker.state.groups.group_loading import load_groups, unload_groups

    if partition.leading is not None:
        load_groups(state.groups, state.committed_offsets, partition, now)
    else:
        state.effects += unload_groups(
            state.groups, state.committed_offsets, state.group_log, partition
        )


def _coordinate_transactions(state: BrokerState, partition: Partition, _now: TimeMs) -> None:
    from harness.reference_broker.state.transactions.transaction_loading import (
        load_transactions,
        unload_transactions,
    )

    if partition.leading is not None:
        load_transactions(state.transactions, partition)
    else:
        unload_transactions(state.transactions, partition)


_COORDINATE = {
    GROUP_METADATA_TOPIC: _coordinate_groups,
    TRANSACTION_STATE_TOPIC: _coordinate_transactions,
}
"""The change of a coordinator with the leader of a partition, by topic."""


def _registered(state: BrokerState, record: messages.RegisterBrokerRecord, _now: TimeMs) -> None:
    state.brokers.put(BrokerRegistration.read(record))


def _unregistered(
    state: BrokerState, record: messages.UnregisterBrokerRecord, _now: TimeMs
) -> None:
    state.brokers.remove(record.broker_id)


def _registration_changed(
    state: BrokerState, record: messages.BrokerRegistrationChangeRecord, _now: TimeMs
) -> None:
    registered = state.brokers.get(record.broker_id)
    if registered is not None and registered.epoch == record.broker_epoch:
        state.brokers.put(registered.changed(record))


def _quota(state: BrokerState, record: messages.ClientQuotaRecord, _now: TimeMs) -> None:
    entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
    state.client_quotas.alter(entity, {record.key: None if record.remove else record.value})


def _feature(state: BrokerState, record: messages.FeatureLevelRecord, _now: TimeMs) -> None:
    state.features[record.name] = record.feature_level


def _producer_ids(state: BrokerState, record: messages.ProducerIdsRecord, _now: TimeMs) -> None:
    state.next_producer_id = record.next_producer_id


def _credential(
    state: BrokerState, record: messages.UserScramCredentialRecord, _now: TimeMs
) -> None:
    state.scram_credentials.put(record)


def _credential_removed(
    state: BrokerState, record: messages.RemoveUserScramCredentialRecord, _now: TimeMs
) -> None:
    state.scram_credentials.remove(record)


def _token(state: BrokerState, record: messages.DelegationTokenRecord, _now: TimeMs) -> None:
    state.delegation_tokens.put(record)


def _token_removed(
    state: BrokerState, record: messages.RemoveDelegationTokenRecord, _now: TimeMs
) -> None:
    state.delegation_tokens.remove(record.token_id)


def _acl(state: BrokerState, record: messages.AccessControlEntryRecord, _now: TimeMs) -> None:
    state.acls.put(record)


def _acl_removed(
    state: BrokerState, record: messages.RemoveAccessControlEntryRecord, _now: TimeMs
) -> None:
    state.acls.remove(record)


def _eligible_cleared(state: BrokerState, record: messages.ClearElrRecord, now: TimeMs) -> None:
    """Clear the eligible leaders of a topic, or of all topics (KIP-966)."""
    for topic in list(state.cluster.topics()):
        for partition in topic.partitions if record.topic_name in ("", topic.name) else ():
            _register(state, topic, partition, partition.registration.without_eligible(), now)


_APPLY: dict[str, Callable[[BrokerState, Any, TimeMs], None]] = {
    "TopicRecord": _topic,
    "RemoveTopicRecord": _topic_removed,
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _partition_changed,
    "RegisterBrokerRecord": _registered,
    "UnregisterBrokerRecord": _unregistered,
    "BrokerRegistrationChangeRecord": _registration_changed,
    "ClientQuotaRecord": _quota,
    "FeatureLevelRecord": _feature,
    "ProducerIdsRecord": _producer_ids,
    "ClearElrRecord": _eligible_cleared,
    "UserScramCredentialRecord": _credential,
    "RemoveUserScramCredentialRecord": _credential_removed,
    "DelegationTokenRecord": _token,
    "RemoveDelegationTokenRecord": _token_removed,
    "AccessControlEntryRecord": _acl,
    "RemoveAccessControlEntryRecord": _acl_removed,
}


def _apply_configs(state: BrokerState, records: Sequence[messages.ConfigRecord]) -> None:
    """Apply all configs of one resource at once: some values are legal only together."""
    from harness.reference_broker.state.configs.kinds import KINDS

    for (kind_id, resource), group in groupby(
        records, key=lambda record: (record.resource_type, record.resource_name)
    ):
        kind = KINDS.get(kind_id)
        if kind is None:
            continue
        values = dict(kind.current(state, resource))
        for record in group:
            values.pop(record.name, None)
            if record.value is not None:
                values[record.name] = record.value
        kind.store(state, resource, values)

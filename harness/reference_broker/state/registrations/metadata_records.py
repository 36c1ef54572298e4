"""The metadata records of topics, configs and quotas, in the order in which Kafka writes them.

Source: classes ReplicationControlManager and ConfigurationControlManager.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from harness.codec import messages

if TYPE_CHECKING:
    from harness.codec.structs import Message
    from harness.reference_broker.state.quotas.client_quotas import Entity
    from harness.reference_broker.state.registrations.partition_registration import (
        PartitionRegistration,
    )

_TOPIC = 2
"""The resource type of topics (class ConfigResource.Type)."""
_IN_SYNC = "min.insync.replicas"


def topic_records(
    name: str,
    topic_id: UUID,
    configs: Mapping[str, str],
    partitions: Sequence[PartitionRegistration],
) -> list[Message]:
    """Return the records of a new topic."""
    return [
        messages.TopicRecord(name=name, topic_id=topic_id),
        *config_records(_TOPIC, name, {}, configs),
        *partition_records(topic_id, 0, partitions),
    ]


def partition_records(
    topic_id: UUID, first: int, partitions: Sequence[PartitionRegistration]
) -> list[Message]:
    """Return the records of new partitions of a topic, numbered from `first` on."""
    return [one.as_record(topic_id, index) for index, one in enumerate(partitions, first)]


def config_records(
    resource_type: int, resource: str, before: Mapping[str, str], after: Mapping[str, str]
) -> list[Message]:
    """Return a record for each changed config of a resource; None removes the config."""
    changes: dict[str, str | None] = {name: None for name in before if name not in after}
    changes |= {name: value for name, value in after.items() if before.get(name) != value}
    return [
        messages.ConfigRecord(
            resource_type=resource_type, resource_name=resource, name=name, value=value
        )
        for name, value in changes.items()
    ]


def eligible_cleared(changes: Sequence[Message]) -> list[Message]:
    """Return the records that clear the eligible leaders of topics with a new min.insync.replicas.

    Whether such a replica has all committed records is only known by the old value. Source: class
    ConfigurationControlManager (createClearElrRecordsAsNeeded); KIP-966.
    """
    return [
        messages.ClearElrRecord(
            topic_name=change.resource_name if change.resource_type == _TOPIC else ""
        )
        for change in changes
        if isinstance(change, messages.ConfigRecord) and change.name == _IN_SYNC
    ]


def quota_records(entity: Entity, changes: Mapping[str, float | None]) -> list[Message]:
    """Return a record for each changed quota of an entity; None removes the quota."""
    parts = [
        messages.ClientQuotaRecord.EntityData(entity_type=kind, entity_name=name)
        for kind, name in sorted(entity)
    ]
    return [
        messages.ClientQuotaRecord(
            entity=parts, key=key, value=0.0 if value is None else value, remove=value is None
        )
        for key, value in changes.items()
    ]

"""The removals of a snapshot of the metadata: what was in effect, and is not in it.

A broker that fell behind the start of the controller's log reads a snapshot. The log's records of
removals are gone by then. Source: classes MetadataDelta, ConfigurationsDelta and ClientQuotasDelta
(finishSnapshot); KIP-630.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from harness.codec.messages import (
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    UnregisterBrokerRecord,
)

if TYPE_CHECKING:
    from harness.codec.structs import Message
    from harness.reference_broker.state.metadata.metadata_fold import MetadataFold


def removals(before: MetadataFold, snapshot: MetadataFold) -> list[Message]:
    """Return the records that remove what is in effect before a snapshot, and not in it."""
    found: list[Message] = []
    for name, removal in _REMOVAL.items():
        records = [removal(record) for record in before.missing_in(snapshot, name)]
        before.take(records)  # with a topic go its configs
        found += records
    return found


def _without_value(record: Any) -> Message:
    made = copy(record)
    made.value = None
    return made  # type: ignore[no-any-return]


def _removed(record: Any) -> Message:
    made = copy(record)
    made.remove = True
    return made  # type: ignore[no-any-return]


def _at_level_0(record: Any) -> Message:
    made = copy(record)
    made.feature_level = 0
    return made  # type: ignore[no-any-return]


_REMOVAL: Mapping[str, Callable[[Any], Message]] = {
    "TopicRecord": lambda one: RemoveTopicRecord(topic_id=one.topic_id),
    "RegisterBrokerRecord": lambda one: UnregisterBrokerRecord(
        broker_id=one.broker_id, broker_epoch=one.broker_epoch
    ),
    "ConfigRecord": _without_value,
    "ClientQuotaRecord": _removed,
    "FeatureLevelRecord": _at_level_0,
    "AccessControlEntryRecord": lambda one: RemoveAccessControlEntryRecord(id=one.id),
    "UserScramCredentialRecord": lambda one: RemoveUserScramCredentialRecord(
        name=one.name, mechanism=one.mechanism
    ),
    "DelegationTokenRecord": lambda one: RemoveDelegationTokenRecord(token_id=one.token_id),
}
"""The record that removes the effect of another, by that one's name; topics come first."""

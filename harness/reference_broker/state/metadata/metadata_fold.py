"""The metadata log reduced to the records that no later record makes untrue.

The reduction works on the records alone, so records of features that this node does not have
(newer kinds of groups, for example) are kept too. Source: class MetadataImage (write), KIP-630.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from harness.reference_broker.state.registrations.brokers import (
    FENCE,
    IN_CONTROLLED_SHUTDOWN,
    UNFENCE,
)
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)

if TYPE_CHECKING:
    from harness.codec import messages
    from harness.codec.structs import Message

_TOPIC = 2
"""The resource type of topics."""
_Key = tuple[Any, ...]

_KEPT: Mapping[str, Callable[[Any], _Key]] = {
    "FeatureLevelRecord": lambda one: (one.name,),
    "RegisterBrokerRecord": lambda one: (one.broker_id,),
    "RegisterControllerRecord": lambda one: (one.controller_id,),
    "TopicRecord": lambda one: (one.topic_id,),
    "PartitionRecord": lambda one: (one.topic_id, one.partition_id),
    "ConfigRecord": lambda one: (one.resource_type, one.resource_name, one.name),
    "ClientQuotaRecord": lambda one: (
        *sorted((part.entity_type, part.entity_name or "") for part in one.entity),
        one.key,
    ),
    "ProducerIdsRecord": lambda _: (),
    "AccessControlEntryRecord": lambda one: (one.id,),
    "UserScramCredentialRecord": lambda one: (one.name, one.mechanism),
    "DelegationTokenRecord": lambda one: (one.token_id,),
    "ZkMigrationStateRecord": lambda _: (),
}
"""The key under which only the last record is kept, by record name in the order of a snapshot."""
_REMOVED: Mapping[str, tuple[str, Callable[[Any], _Key]]] = {
    "UnregisterBrokerRecord": ("RegisterBrokerRecord", lambda one: (one.broker_id,)),
    "UnregisterControllerRecord": ("RegisterControllerRecord", lambda one: (one.controller_id,)),
    "RemoveAccessControlEntryRecord": ("AccessControlEntryRecord", lambda one: (one.id,)),
    "RemoveUserScramCredentialRecord": (
        "UserScramCredentialRecord",
        lambda one: (one.name, one.mechanism),
    ),
    "RemoveDelegationTokenRecord": ("DelegationTokenRecord", lambda one: (one.token_id,)),
    "RemoveFeatureLevelRecord": ("FeatureLevelRecord", lambda one: (one.name,)),
}
_TAKES_BACK: Mapping[str, Callable[[Any], bool]] = {
    "ConfigRecord": lambda one: one.value is None,
    "ClientQuotaRecord": lambda one: one.remove,
    "FeatureLevelRecord": lambda one: one.feature_level == 0,
}
_SAYS_NOTHING = frozenset({"NoOpRecord"})


class MetadataFold:
    """The records in effect. ``is_whole`` is False after a record that cannot be folded."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[_Key, Message]] = {name: {} for name in _KEPT}
        self.is_whole = True

    def take(self, records: Sequence[Message]) -> None:
        """Fold the next records of the log."""
        for record in records:
            name = type(record).__name__
            if name in _KEPT:
                self._put(name, record)
            elif name in _REMOVED:
                kind, key = _REMOVED[name]
                self._kept[kind].pop(key(record), None)
            elif name in _MERGED:
                _MERGED[name](self, record)
            elif name not in _SAYS_NOTHING:
                self.is_whole = False

    def records(self) -> list[Message]:
        """Return the records in effect, in an order in which they can be applied."""
        return [record for kept in self._kept.values() for record in kept.values()]

    def missing_in(self, other: MetadataFold, name: str) -> list[Message]:
        """Return the records of this name in effect that have no successor in the other fold."""
        others = other._kept[name]
        return [record for key, record in self._kept[name].items() if key not in others]

    def _put(self, name: str, record: Message) -> None:
        key, kept = _KEPT[name](record), self._kept[name]
        if name in _TAKES_BACK and _TAKES_BACK[name](record):
            kept.pop(key, None)
            return
        if name == "RegisterBrokerRecord":  # of what is not written back (KIP-1066)
            self.is_whole &= not cast("messages.RegisterBrokerRecord", record).cordoned_log_dirs
        kept[key] = record

    def _remove_topic(self, record: messages.RemoveTopicRecord) -> None:
        gone: Any = self._kept["TopicRecord"].pop((record.topic_id,), None)
        partitions, configs = self._kept["PartitionRecord"], self._kept["ConfigRecord"]
        for key in [key for key in partitions if key[0] == record.topic_id]:
            del partitions[key]
        of_it = None if gone is None else (_TOPIC, gone.name)
        for key in [key for key in configs if key[:2] == of_it]:
            del configs[key]

    def _change_partition(self, record: messages.PartitionChangeRecord) -> None:
        kept, key = self._kept["PartitionRecord"], (record.topic_id, record.partition_id)
        if key in kept:
            before = PartitionRegistration.read(cast("messages.PartitionRecord", kept[key]))
            kept[key] = before.changed(record).as_record(*key)

    def _clear_eligible(self, record: messages.ClearElrRecord) -> None:
        topics: Mapping[_Key, Any] = self._kept["TopicRecord"]
        kept = self._kept["PartitionRecord"]
        for key in list(kept):
            if record.topic_name in ("", topics[key[:1]].name):
                before = PartitionRegistration.read(cast("messages.PartitionRecord", kept[key]))
                kept[key] = before.without_eligible().as_record(*key)

    def _change_broker(self, record: messages.BrokerRegistrationChangeRecord) -> None:
        before: Any = self._kept["RegisterBrokerRecord"].get((record.broker_id,))
        if before is None or before.broker_epoch != record.broker_epoch:
            return
        after = copy(before)
        if record.fenced in (FENCE, UNFENCE):
            after.fenced = record.fenced == FENCE
        if record.in_controlled_shutdown == IN_CONTROLLED_SHUTDOWN:
            after.in_controlled_shutdown = True
        if record.log_dirs:
            after.log_dirs = record.log_dirs
        self.is_whole &= not record.cordoned_log_dirs
        self._kept["RegisterBrokerRecord"][record.broker_id,] = after


_MERGED: Mapping[str, Callable[[MetadataFold, Any], None]] = {
    "RemoveTopicRecord": MetadataFold._remove_topic,
    "PartitionChangeRecord": MetadataFold._change_partition,
    "ClearElrRecord": MetadataFold._clear_eligible,
    "BrokerRegistrationChangeRecord": MetadataFold._change_broker,
}

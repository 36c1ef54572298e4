"""Handlers and the code of messages, which most brokers need in their first second.

A broker loads both on first use, so that it starts at once. A process that forks many brokers loads
them once for all.
"""

from __future__ import annotations

from harness.codec import decode_prefix, encode, messages
from harness.codec.apis import APIS
from harness.codec.structs import Message
from harness.reference_broker.handlers.table import CONTROLLER_HANDLERS, MEMBER_HANDLERS

STORED = (
    *(messages.FeatureLevelRecord, messages.RegisterControllerRecord),
    *(messages.RegisterBrokerRecord, messages.BrokerRegistrationChangeRecord),
    *(messages.TopicRecord, messages.PartitionRecord, messages.PartitionChangeRecord),
    *(messages.RemoveTopicRecord, messages.ConfigRecord, messages.ProducerIdsRecord),
    *(messages.LeaderChangeMessage, messages.ControlRecordTypeSchema),
    *(messages.SnapshotHeaderRecord, messages.SnapshotFooterRecord, messages.ProducerSnapshot),
    *(messages.GroupMetadataKey, messages.GroupMetadataValue),
    *(messages.OffsetCommitKey, messages.OffsetCommitValue),
)
"""Records that a broker writes at their newest version, and reads again."""
HEADERS = ((messages.RequestHeader, 1), (messages.RequestHeader, 2), (messages.ResponseHeader, 1))
EARLIER = {1: 17, 3: 2, 18: 0}
"""By API key: a version before the newest that nodes or first requests use."""


def load_everyday() -> None:
    """Import the handlers, and make the code of the newest version of their messages."""
    for one in {**MEMBER_HANDLERS, **CONTROLLER_HANDLERS}.values():
        assert one.handle is not None
        key, newest = one.advertised.api_key, one.advertised.highest
        for version in {newest, EARLIER.get(key, newest)}:
            _write_and_read(APIS[key].request, version, tolerant=True)
            _write_and_read(APIS[key].response, version, tolerant=False)
    for header, version in HEADERS:
        _write_and_read(header, version, tolerant=True)
    for record in STORED:
        _write_and_read(record, record.message_spec.valid.highest, tolerant=False)


def _write_and_read(cls: type[Message], version: int, *, tolerant: bool) -> None:
    decode_prefix(cls, version, encode(cls(), version), tolerant=tolerant)

"""Records of the coordinators' topics.

The topics are ``__consumer_offsets``, ``__transaction_state`` and ``__share_group_state``. A key is
an int16 record type id and the fields, a value an int16 version and the fields; a null value is a
tombstone. Up to 4.0 the definitions called the id the key's version; the bytes are the same.
Readers ignore ids that they do not know (KIP-915). Source: ``CoordinatorRecordSerde``.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.codec.data_framing.version_prefix import VERSION, read_version
from harness.codec.errors import EncodeError, UnsupportedVersionError
from harness.codec.message_codec import decode, encode
from harness.codec.messages import message_class
from harness.codec.structs import Message

LEGACY_OFFSET_COMMIT = 0


class UnknownRecord(NamedTuple):
    """A key with a record type id that no release wrote, or a message with such an API key."""

    id: int
    data: bytes  # all of it


class CoordinatorRecord(NamedTuple):
    """Key and value; the value is None for a tombstone, and for a key that is not known."""

    key: Message | UnknownRecord
    value_version: int  # -1 without a value
    value: Message | None


class CoordinatorLog:
    """One coordinator's topic and its record types: id -> name without ``Key`` and ``Value``."""

    def __init__(self, topic: str, records: dict[int, str]) -> None:
        self.topic, self.records = topic, records
        self._ids = {name: id_ for id_, name in records.items()}

    def read_key(self, data: bytes) -> Message | UnknownRecord:
        """The key. Raises DecodeError."""
        id_ = read_version(data, f"key in {self.topic}")
        if id_ not in self.records:
            return UnknownRecord(id_, data)
        cls = message_class(f"{self.records[id_]}Key")
        return decode(cls, cls.message_spec.valid.highest, data, VERSION.size)

    def read_value(
        self, key: Message, data: bytes | None, release: str | None = None
    ) -> tuple[int, Message | None]:
        """(version, the value that belongs to ``key``); (-1, None) for a tombstone.

        Raises DecodeError, and UnsupportedVersionError for a version that is not known.
        """
        name = self._name(key)
        if data is None:
            return -1, None
        version = read_version(data, f"{name}Value")
        cls = message_class(f"{name}Value", release)
        if version not in cls.message_spec.valid and self._ids[name] == LEGACY_OFFSET_COMMIT:
            cls = message_class("OffsetCommitValue", release)  # up to 4.0 both keys have one value
        if version not in cls.message_spec.valid:
            known = cls.message_spec.valid
            raise UnsupportedVersionError(f"{cls.__name__} has versions {known}, not {version}")
        return version, decode(cls, version, data, VERSION.size)

    def read_record(
        self, key: bytes, value: bytes | None, release: str | None = None
    ) -> CoordinatorRecord:
        """Both at once. Raises DecodeError, UnsupportedVersionError."""
        found = self.read_key(key)
        if isinstance(found, UnknownRecord):
            return CoordinatorRecord(found, -1, None)
        return CoordinatorRecord(found, *self.read_value(found, value, release))

    def key_bytes(self, key: Message) -> bytes:
        """Record type id and key. Raises EncodeError."""
        id_ = self._ids[self._name(key)]
        return VERSION.pack(id_) + encode(key, type(key).message_spec.valid.highest)

    def value_bytes(self, value: Message, version: int) -> bytes:
        """Version and value. Raises EncodeError, UnsupportedVersionError."""
        body = encode(value, version)
        return VERSION.pack(version) + body

    def _name(self, key: Message) -> str:
        name = type(key).__name__.removesuffix("Key")
        if name not in self._ids:
            problem = f"{type(key).__name__} is no key in {self.topic}"
            raise EncodeError(problem, message=type(key).__name__, version=-1, path="")
        return name


OFFSETS = CoordinatorLog(
    "__consumer_offsets",
    {
        LEGACY_OFFSET_COMMIT: "LegacyOffsetCommit",
        1: "OffsetCommit",
        2: "GroupMetadata",
        3: "ConsumerGroupMetadata",
        4: "ConsumerGroupPartitionMetadata",
        5: "ConsumerGroupMemberMetadata",
        6: "ConsumerGroupTargetAssignmentMetadata",
        7: "ConsumerGroupTargetAssignmentMember",
        8: "ConsumerGroupCurrentMemberAssignment",
        9: "ShareGroupPartitionMetadata",  # 3.9 and 4.0 only
        10: "ShareGroupMemberMetadata",
        11: "ShareGroupMetadata",
        12: "ShareGroupTargetAssignmentMetadata",
        13: "ShareGroupTargetAssignmentMember",
        14: "ShareGroupCurrentMemberAssignment",
        15: "ShareGroupStatePartitionMetadata",
        16: "ConsumerGroupRegularExpression",
        17: "StreamsGroupMetadata",
        19: "StreamsGroupMemberMetadata",  # 18 was given up before its release
        20: "StreamsGroupTargetAssignmentMetadata",
        21: "StreamsGroupTargetAssignmentMember",
        22: "StreamsGroupCurrentMemberAssignment",
        23: "StreamsGroupTopology",
    },
)
TRANSACTION_STATE = CoordinatorLog("__transaction_state", {0: "TransactionLog"})
SHARE_GROUP_STATE = CoordinatorLog("__share_group_state", {0: "ShareSnapshot", 1: "ShareUpdate"})
COORDINATOR_LOGS = {log.topic: log for log in (OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE)}

"""Records of a control batch: the key contains the type, the value is a message.

Key: int16 version, int16 type. A transaction marker has its version before the fields; control
records of the metadata quorum have it as the first field of the schema. Kafka's readers accept
newer and longer keys and values and read them at the version that they know. Source:
``ControlRecordType``, ``EndTransactionMarker``, ``ControlRecordUtils``.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.codec.data_framing.version_prefix import VERSION, read_newest_known, read_version
from harness.codec.errors import DecodeError
from harness.codec.message_codec import decode, decode_prefix, encode
from harness.codec.messages import message_class
from harness.codec.structs import Message

ABORT, COMMIT = 0, 1
CONTROL_TYPES = {
    ABORT: ("ABORT", "EndTxnMarker"),
    COMMIT: ("COMMIT", "EndTxnMarker"),
    2: ("LEADER_CHANGE", "LeaderChangeMessage"),
    3: ("SNAPSHOT_HEADER", "SnapshotHeaderRecord"),
    4: ("SNAPSHOT_FOOTER", "SnapshotFooterRecord"),
    5: ("KRAFT_VERSION", "KRaftVersionRecord"),
    6: ("KRAFT_VOTERS", "VotersRecord"),
}
# Up to 2.8 type 2 was reserved for what no release wrote, and the numbers behind it differed.
_TYPES_UP_TO_2_8 = {
    ABORT: CONTROL_TYPES[ABORT],
    COMMIT: CONTROL_TYPES[COMMIT],
    3: ("LEADER_CHANGE", "LeaderChangeMessage"),
}


class ControlRecord(NamedTuple):
    """``message`` is None for a type that is not known, which readers ignore."""

    type: int
    name: str  # "UNKNOWN" for such a type
    version: int  # as the value says; -1 when it was not read
    message: Message | None


def control_types(release: str | None = None) -> dict[int, tuple[str, str]]:
    """Type -> (Kafka's name, name of the message) as a release has them."""
    old = release is not None and tuple(map(int, release.split(".")[:2])) <= (2, 8)
    return _TYPES_UP_TO_2_8 if old else CONTROL_TYPES


def read_control_type(key: bytes) -> int:
    """The type in a control record's key. Raises DecodeError; a longer key is no error."""
    found = read_newest_known(message_class("ControlRecordTypeSchema"), key[: 2 * VERSION.size])
    type_: int = found.message.type  # type: ignore[attr-defined]
    return type_


def read_control_record(
    key: bytes, value: bytes | None, release: str | None = None
) -> ControlRecord:
    """A control record, as ``release`` wrote it: up to 2.8 LEADER_CHANGE is type 3 without version.

    Raises DecodeError.
    """
    type_, types = read_control_type(key), control_types(release)
    if type_ not in types:
        return ControlRecord(type_, "UNKNOWN", -1, None)
    name, message = types[type_]
    if value is None:
        raise DecodeError(
            f"a control record of type {name} has a value, not null",
            message=message,
            version=-1,
            path="",
            offset=0,
        )
    cls = message_class(message, release)
    if type_ in (ABORT, COMMIT):
        marker = read_newest_known(cls, value)
        return ControlRecord(type_, name, marker.version, marker.message)
    return ControlRecord(type_, name, *_of_quorum(cls, value))


def _of_quorum(cls: type[Message], value: bytes) -> tuple[int, Message]:
    if cls.spec.fields[0].name != "version":
        return 0, decode(cls, 0, value)
    version = read_version(value, cls.__name__)
    newest = cls.message_spec.valid.highest
    if version > newest:
        return version, decode_prefix(cls, newest, value)[0]
    return version, decode(cls, version, value)


def control_record_key(type_: int) -> bytes:
    """The key of a control record. Raises EncodeError."""
    key = message_class("ControlRecordTypeSchema")(type=type_)
    return VERSION.pack(0) + encode(key, 0)


def control_record_value(message: Message, version: int = 0) -> bytes:
    """The value of a control record; the field ``version`` of a quorum's message is not set here.

    Raises EncodeError, UnsupportedVersionError.
    """
    body = encode(message, version)
    return VERSION.pack(version) + body if type(message).__name__ == "EndTxnMarker" else body

"""Messages behind their own version: an int16, then the fields at that version.

So are the embedded protocols of consumers (``ConsumerProtocol``) and Connect workers
(``ConnectProtocol``, ``IncrementalCooperativeConnectProtocol``), and principals in an Envelope
(``DefaultKafkaPrincipalBuilder``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from harness.codec import messages
from harness.codec.errors import DecodeError
from harness.codec.message_codec import decode, decode_prefix, encode
from harness.codec.structs import Message

if TYPE_CHECKING:
    from harness.codec.messages import (
        ConnectAssignment,
        ConnectWorkerState,
        ConsumerProtocolAssignment,
        ConsumerProtocolSubscription,
        DefaultPrincipalData,
    )

M = TypeVar("M", bound=Message)
VERSION = struct.Struct(">h")


class VersionPrefixed(NamedTuple, Generic[M]):
    """A message and the version that was written before it, which may be newer than any known."""

    version: int
    message: M


def read_version(data: bytes, message: str) -> int:
    """The int16 at the start of ``data``. Raises DecodeError when it is cut or negative."""
    if len(data) < VERSION.size:
        problem = f"{VERSION.size} bytes of version expected, {len(data)} there"
        raise DecodeError(problem, message=message, version=-1, path="version", offset=0)
    version: int = VERSION.unpack_from(data)[0]
    if version < 0:
        problem = f"version {version} is negative"
        raise DecodeError(problem, message=message, version=version, path="version", offset=0)
    return version


def read_version_prefixed(cls: type[M], data: bytes) -> VersionPrefixed[M]:
    """The message that fills ``data``, at the version before it.

    Raises DecodeError (offsets count from the version) also for a version that is not known.
    """
    version = read_version(data, cls.__name__)
    if version not in cls.message_spec.valid:
        problem = f"version {version} is none of {cls.message_spec.valid}"
        raise DecodeError(problem, message=cls.__name__, version=version, path="version", offset=0)
    return VersionPrefixed(version, decode(cls, version, data, VERSION.size))


def read_newest_known(cls: type[M], data: bytes) -> VersionPrefixed[M]:
    """The message behind its version; a newer one is read as the newest known, its rest ignored.

    So Kafka reads what may come from a newer member: a new version only adds fields at the end.
    Raises DecodeError.
    """
    version = read_version(data, cls.__name__)
    newest = cls.message_spec.valid.highest
    if version <= newest:
        return read_version_prefixed(cls, data)
    return VersionPrefixed(version, decode_prefix(cls, newest, data, VERSION.size)[0])


def version_prefixed_bytes(message: Message, version: int) -> bytes:
    """The version and the message at it. Raises EncodeError, UnsupportedVersionError."""
    body = encode(message, version)
    return VERSION.pack(version) + body


def read_subscription(data: bytes) -> VersionPrefixed[ConsumerProtocolSubscription]:
    """Metadata of a consumer in JoinGroup. Raises DecodeError."""
    return read_newest_known(messages.ConsumerProtocolSubscription, data)


def read_assignment(data: bytes) -> VersionPrefixed[ConsumerProtocolAssignment]:
    """Assignment of a consumer in SyncGroup. Raises DecodeError."""
    return read_newest_known(messages.ConsumerProtocolAssignment, data)


def read_principal(data: bytes) -> VersionPrefixed[DefaultPrincipalData]:
    """Principal of an Envelope; a version that is not known is an error. Raises DecodeError."""
    return read_version_prefixed(messages.DefaultPrincipalData, data)


def read_connect_worker_state(data: bytes) -> VersionPrefixed[ConnectWorkerState]:
    """Metadata of a Connect worker in JoinGroup; its ``allocation`` is an assignment again.

    Version 0 is ``eager``, 1 ``compatible``, 2 ``sessioned``. Raises DecodeError.
    """
    return read_newest_known(messages.ConnectWorkerState, data)


def read_connect_assignment(data: bytes) -> VersionPrefixed[ConnectAssignment]:
    """Assignment of a Connect worker; task -1 is the connector itself. Raises DecodeError."""
    return read_newest_known(messages.ConnectAssignment, data)

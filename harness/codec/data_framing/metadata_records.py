"""The frame of metadata records: in ``__cluster_metadata`` and in the remote log metadata topic.

``uvarint frame version, uvarint API key, uvarint version``, then the fields to the last byte.
Frame version 1; the preview of KRaft in 2.8 wrote 0. Source: ``AbstractApiMessageSerde``.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.codec.data_framing.coordinator_records import UnknownRecord
from harness.codec.errors import DecodeError, EncodeError, UnsupportedVersionError
from harness.codec.message_codec import decode, encode
from harness.codec.messages import message_class
from harness.codec.structs import Message
from harness.codec.varint import decode_uvarint, encode_uvarint

FRAME_VERSION = 1
PREVIEW_FRAME_VERSION = 0
INT16_HIGHEST = 2**15 - 1


class MetadataRecord(NamedTuple):
    """A message with the version that it was written at."""

    version: int
    message: Message


class MetadataFraming:
    """One space of API keys: key -> name of the message."""

    def __init__(self, topic: str, records: dict[int, str], preview: dict[int, str]) -> None:
        """``preview``: what 2.8 calls otherwise; empty where 2.8 had none of it."""
        self.topic, self.records = topic, records
        self._preview = {**records, **preview} if preview else {}
        self._names = {*records.values(), *preview.values()}

    def read(self, data: bytes, release: str | None = None) -> MetadataRecord | UnknownRecord:
        """Return the record that fills ``data``.

        ``release``: the release that wrote the record; 2.8 requires frame version 0, all others 1.
        Raises DecodeError, and UnsupportedVersionError for a version that is not known.
        """
        in_preview = _is_preview(release)
        wanted = PREVIEW_FRAME_VERSION if in_preview else FRAME_VERSION
        frame, offset = _number(data, 0, "frame_version")
        if frame != wanted:
            raise _fail(_wrong_frame(frame, wanted), "frame_version", 0)
        api_key, offset = _number(data, offset, "api_key")
        version, offset = _number(data, offset, "version")
        names = self._preview if in_preview else self.records
        if api_key not in names:
            return UnknownRecord(api_key, data)
        cls = message_class(names[api_key], release)
        if version not in cls.message_spec.valid:
            known = cls.message_spec.valid
            raise UnsupportedVersionError(f"{cls.__name__} has versions {known}, not {version}")
        return MetadataRecord(version, decode(cls, version, data, offset))

    def write(self, message: Message, version: int, release: str | None = None) -> bytes:
        """A record's bytes. Raises EncodeError, UnsupportedVersionError."""
        spec = type(message).message_spec
        if spec.api_key is None or spec.name not in self._names:
            problem = f"{spec.name} is no record of {self.topic}"
            raise EncodeError(problem, message=spec.name, version=version, path="")
        frame = PREVIEW_FRAME_VERSION if _is_preview(release) else FRAME_VERSION
        head = b"".join(map(encode_uvarint, (frame, spec.api_key, version)))
        return head + encode(message, version)


def _is_preview(release: str | None) -> bool:
    return release is not None and release.split(".")[:2] == ["2", "8"]


def _wrong_frame(frame: int, wanted: int) -> str:
    if frame == PREVIEW_FRAME_VERSION:
        return "frame version 0 is the preview of KRaft: read it as of release 2.8"
    return f"frame version {frame}, not {wanted}"


def _number(data: bytes, offset: int, path: str) -> tuple[int, int]:
    try:
        value, following = decode_uvarint(data, offset)
    except IndexError:
        raise _fail("the bytes end inside an unsigned varint", path, offset) from None
    except ValueError as error:
        raise _fail(str(error), path, offset) from None
    if value > INT16_HIGHEST:
        raise _fail(f"{value} is above {INT16_HIGHEST}", path, offset)
    return value, following


def _fail(problem: str, path: str, offset: int) -> DecodeError:
    return DecodeError(problem, message="metadata record", version=-1, path=path, offset=offset)


CLUSTER_METADATA = MetadataFraming(
    "__cluster_metadata",
    {
        0: "RegisterBrokerRecord",
        1: "UnregisterBrokerRecord",
        2: "TopicRecord",
        3: "PartitionRecord",
        4: "ConfigRecord",
        5: "PartitionChangeRecord",
        6: "AccessControlRecord",  # up to 3.4
        7: "FenceBrokerRecord",
        8: "UnfenceBrokerRecord",
        9: "RemoveTopicRecord",
        10: "DelegationTokenRecord",
        11: "UserScramCredentialRecord",
        12: "FeatureLevelRecord",
        14: "ClientQuotaRecord",  # 13 was never released
        15: "ProducerIdsRecord",
        16: "RemoveFeatureLevelRecord",  # up to 3.2
        17: "BrokerRegistrationChangeRecord",
        18: "AccessControlEntryRecord",
        19: "RemoveAccessControlEntryRecord",
        20: "NoOpRecord",
        21: "ZkMigrationStateRecord",
        22: "RemoveUserScramCredentialRecord",
        23: "BeginTransactionRecord",
        24: "EndTransactionRecord",
        25: "AbortTransactionRecord",
        26: "RemoveDelegationTokenRecord",
        27: "RegisterControllerRecord",
        28: "ClearElrRecord",
        29: "UnregisterControllerRecord",
    },
    {14: "QuotaRecord"},
)
REMOTE_LOG_METADATA = MetadataFraming(
    "__remote_log_metadata",
    {
        0: "RemoteLogSegmentMetadataRecord",
        1: "RemoteLogSegmentMetadataUpdateRecord",
        2: "RemotePartitionDeleteMetadataRecord",
        3: "RemoteLogSegmentMetadataSnapshotRecord",
    },
    {},
)
METADATA_LOGS = {log.topic: log for log in (CLUSTER_METADATA, REMOTE_LOG_METADATA)}

"""Short notes that a broker keeps beside its logs, as text.

``partition.metadata`` (KIP-516), ``meta.properties`` (KIP-631, KIP-858), and the file that a clean
shutdown leaves, which is empty or since KIP-966 a line of JSON. Source: classes
PartitionMetadataFile, MetaProperties, CleanShutdownFileHandler.
"""

from __future__ import annotations

import json
import re
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.codec.errors import DecodeError

_VERSION = 0
_PARTITION, _META, _CLEAN = "PartitionMetadata", "MetaProperties", "CleanShutdown"
_PARTITION_FORM = re.compile(r"version: ([0-9]{1,9})\ntopic_id: (\S+)\n?")
_PROPERTY = re.compile(r"((?:\\.|[^\\=:\s])+)[ \t]*[=: \t][ \t]*(.*)")
_SPECIAL = re.compile(r"[\\=:#!]")
META_VERSIONS = (0, 1)


class PartitionMetadata(NamedTuple):
    """The content of ``partition.metadata``: the id of the topic that a log folder belongs to."""

    version: int
    topic_id: uuid.UUID


def read_partition_metadata(data: bytes) -> PartitionMetadata:
    """The whole file. Raises DecodeError."""
    found = _PARTITION_FORM.fullmatch(_text(data, _PARTITION))
    if found is None:
        raise _fail("'version: N' and 'topic_id: ID' expected, a line each", _PARTITION, "")
    version = int(found[1])  # a later one is read as well (PartitionMetadataReadBuffer)
    try:
        topic_id = uuid.UUID(bytes=urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4)))
    except ValueError as error:
        raise _fail(f"not a UUID: {found[2]!r}", _PARTITION, "topic_id") from error
    return PartitionMetadata(version, topic_id)


def partition_metadata_bytes(metadata: PartitionMetadata) -> bytes:
    """The whole file; no line ends behind the last one."""
    text = urlsafe_b64encode(metadata.topic_id.bytes).decode().rstrip("=")
    return f"version: {metadata.version}\ntopic_id: {text}".encode()


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """``values`` in the order of the file; ``comments`` with the time of writing, without ``#``."""

    values: dict[str, str]
    comments: list[str] = field(default_factory=list)

    @property
    def version(self) -> int:
        return int(self.values["version"])


def read_meta_properties(data: bytes) -> MetaProperties:
    """The whole file. Raises DecodeError, also for a version that is not known."""
    found = MetaProperties({})
    for number, line in enumerate(_text(data, _META).split("\n"), 1):
        if not line.strip():
            continue
        if line.lstrip()[0] in "#!":
            found.comments.append(line.lstrip()[1:])
            continue
        property_ = _PROPERTY.fullmatch(line.strip())
        if property_ is None:
            raise _fail(f"'name=value' expected, not {line!r}", _META, f"line {number}")
        found.values[_plain(property_[1])] = _plain(property_[2])
    version = found.values.get("version", "")
    if version not in map(str, META_VERSIONS):
        known = " and ".join(map(str, META_VERSIONS))
        raise _fail(f"version {version!r}; {known} are known", _META, "version")
    return found


def meta_properties_bytes(properties: MetaProperties) -> bytes:
    """The whole file, as ``java.util.Properties`` writes it."""
    lines = [f"#{comment}" for comment in properties.comments]
    lines += [f"{_escaped(name)}={_escaped(value)}" for name, value in properties.values.items()]
    return "".join(f"{line}\n" for line in lines).encode()


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


class CleanShutdown(NamedTuple):
    """``broker_epoch``: None where the release does not note it."""

    broker_epoch: int | None = None


def read_clean_shutdown(data: bytes) -> CleanShutdown:
    """The whole file. Raises DecodeError."""
    if not data:
        return CleanShutdown()
    try:
        found: Any = json.loads(_text(data, _CLEAN))
    except ValueError as error:
        raise _fail(f"not JSON: {error}", _CLEAN, "") from error
    members = found if isinstance(found, dict) else {}
    version, epoch = members.get("version"), members.get("brokerEpoch")
    if version != _VERSION:
        raise _fail(f"version {version!r}; {_VERSION} is known", _CLEAN, "version")
    if type(epoch) is not int:
        raise _fail(f"a number expected, not {epoch!r}", _CLEAN, "brokerEpoch")
    return CleanShutdown(epoch)


def clean_shutdown_bytes(note: CleanShutdown) -> bytes:
    """The whole file."""
    if note.broker_epoch is None:
        return b""
    found = {"version": _VERSION, "brokerEpoch": note.broker_epoch}
    return json.dumps(found, separators=(",", ":")).encode()


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _fail(f"no UTF-8: {error}", name, "", error.start) from error


def _fail(problem: str, message: str, path: str, offset: int = 0) -> DecodeError:
    return DecodeError(problem, message=message, version=-1, path=path, offset=offset)

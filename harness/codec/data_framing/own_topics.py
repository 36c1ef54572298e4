"""Records of the topics that Kafka itself writes: key and value as plain values, by their schemas.

A record that no schema fits is no error: it is returned without the part that was not read, and a
note gives the reason. One version number may stand for several layouts, because releases changed
schemas without a new version: without the release the newest layout is tried first, then the older
ones, newest first; only a layout that fills the bytes exactly is taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harness.codec.data_framing.control_records import read_control_record
from harness.codec.data_framing.coordinator_records import (
    COORDINATOR_LOGS,
    CoordinatorLog,
    UnknownRecord,
)
from harness.codec.data_framing.embedded_protocols import with_embedded
from harness.codec.data_framing.log_folder import PREVIEW_METADATA_TOPIC
from harness.codec.data_framing.metadata_records import (
    CLUSTER_METADATA,
    METADATA_LOGS,
    MetadataFraming,
)
from harness.codec.data_framing.version_prefix import read_version
from harness.codec.dictionary_form import to_dict
from harness.codec.errors import CodecError
from harness.codec.messages import older_releases
from harness.codec.structs import Message

PREVIEW_RELEASE = "2.8"
_PREVIEW_FRAME = b"\0"
_CONTROL_KEY = "ControlRecordTypeSchema"


class OwnRecord(NamedTuple):
    """Key and value as ``{"schema", "type" or "version", "fields"}``; None where there is none.

    ``type`` is the record type id of a key. ``note``: the reason for what was not read, and other
    remarks; empty if there are none.
    """

    key: dict[str, Any] | None
    value: dict[str, Any] | None
    note: str

    def as_dict(self) -> dict[str, Any]:
        """Return the parts by name; without the note if that is empty."""
        parts: dict[str, Any] = {"key": self.key, "value": self.value}
        return parts | ({"note": self.note} if self.note else {})


def part_text(part: dict[str, Any]) -> str:
    """Return a decoded key or value on one line: its schema, its number, the fields as JSON."""
    number = "type" if "type" in part else "version"
    fields = json.dumps(part["fields"], ensure_ascii=False)
    return f"{part['schema']} {number} {part[number]} {fields}"


Reader = Callable[[bytes | None, bytes | None, str | None], OwnRecord]


def own_record(
    topic: str | None, key: bytes | None, value: bytes | None, release: str | None = None
) -> OwnRecord | None:
    """Return a record of ``topic``, or None for a topic that clients write.

    ``release``: the release that wrote it, such as 3.7.2; only its layouts are tried then.
    """
    reader = _READERS.get(topic or "")
    return None if reader is None else reader(key, value, release)


def own_control_record(
    topic: str | None, key: bytes, value: bytes | None, release: str | None = None
) -> tuple[str, OwnRecord]:
    """(Kafka's name of the type, the record) of a control record, of a quorum or a transaction.

    An unreadable record has the reason as its name.
    """
    layouts = PREVIEW_RELEASE if topic == PREVIEW_METADATA_TOPIC else release
    try:
        found = read_control_record(key, value, layouts)
    except CodecError as error:
        return f"unreadable: {error}", OwnRecord(None, None, str(error))
    number = {"version": read_version(key, _CONTROL_KEY), "fields": {"type": found.type}}
    type_ = {"schema": _CONTROL_KEY, **number}
    if found.message is None:
        return found.name, OwnRecord(type_, None, f"control type {found.type} is not known")
    cls = type(found.message)
    fields = to_dict(found.message, min(found.version, cls.message_spec.valid.highest))
    shown = {"schema": cls.__name__, "version": found.version, "fields": fields}
    return found.name, OwnRecord(type_, shown, "")


class WrittenTo(NamedTuple):
    """The topic of records and the release that wrote them; None for what is not known."""

    topic: str | None = None
    release: str | None = None

    def or_in(self, topic: str | None) -> WrittenTo:
        """Return the same with ``topic`` where none is known."""
        return self if self.topic else self._replace(topic=topic)

    def decoded(self, key: bytes | None, value: bytes | None) -> OwnRecord | None:
        """Return the record as :func:`own_record` does."""
        return own_record(self.topic, key, value, self.release)


ANY_TOPIC = WrittenTo()


def _of_coordinator(log: CoordinatorLog) -> Reader:
    def read(key: bytes | None, value: bytes | None, release: str | None) -> OwnRecord:
        if key is None:
            return OwnRecord(None, None, f"a record of {log.topic} has a key, not null")
        try:
            found = log.read_key(key)
        except CodecError as error:
            return OwnRecord(None, None, f"key not read: {error}")
        if isinstance(found, UnknownRecord):
            return OwnRecord(None, None, f"record type {found.id} is not known")
        id_ = read_version(key, log.topic)
        fields = to_dict(found, type(found).message_spec.valid.highest)
        shown = {"schema": type(found).__name__, "type": id_, "fields": fields}
        if value is None:
            return OwnRecord(shown, None, "tombstone")
        own, note = _coordinator_value(log, found, value, release)
        return OwnRecord(shown, own, note)

    return read


def _coordinator_value(
    log: CoordinatorLog, key: Message, value: bytes, release: str | None
) -> tuple[dict[str, Any] | None, str]:
    def read(layout: str | None) -> tuple[int, Message]:
        version, message = log.read_value(key, value, layout)
        assert message is not None  # the value is not null
        return version, message

    schema = type(key).__name__.removesuffix("Key") + "Value"
    return _shown(_layouts(schema, release), read)


def _of_metadata(log: MetadataFraming, preview: bool) -> Reader:
    def read(key: bytes | None, value: bytes | None, release: str | None) -> OwnRecord:
        if value is None:
            return OwnRecord(None, None, f"a record of {log.topic} has a value, not null")
        if preview or (value[:1] == _PREVIEW_FRAME and log is CLUSTER_METADATA):
            release = PREVIEW_RELEASE
        own, note = _metadata_value(log, value, release)
        if key is not None:
            note = "; ".join(filter(None, (note, f"a record of {log.topic} has no key")))
        return OwnRecord(None, own, note)

    return read


def _metadata_value(
    log: MetadataFraming, value: bytes, release: str | None
) -> tuple[dict[str, Any] | None, str]:
    def read(layout: str | None) -> tuple[int, Message] | str:
        found = log.read(value, layout)
        if isinstance(found, UnknownRecord):
            return f"record type {found.id} is not known"
        return found.version, found.message

    layouts = [release] if release else [None, *_older_layouts(log)]
    return _shown(layouts, read)


def _older_layouts(log: MetadataFraming) -> list[str]:
    """Return the releases behind which some layout changed, newest first."""
    found = {older for name in log.records.values() for older in older_releases(name)}
    return sorted(found - {PREVIEW_RELEASE}, key=_numbers, reverse=True)


def _layouts(schema: str, release: str | None) -> list[str | None]:
    return [release] if release else [None, *reversed(older_releases(schema))]


def _numbers(release: str) -> list[int]:
    return [int(word) for word in release.split(".")]


def _shown(
    layouts: list[str | None] | list[str], read: Callable[[str | None], tuple[int, Message] | str]
) -> tuple[dict[str, Any] | None, str]:
    """(the value by the first layout that fits, note); without one the first layout's error."""
    problem = ""
    for layout in layouts:
        try:
            found = read(layout)
        except CodecError as error:
            problem = problem or f"value not read: {error}"
            continue
        if isinstance(found, str):
            return None, found
        version, message = found
        fields, notes = with_embedded(message, to_dict(message, version))
        schema = type(message).__name__
        if layout is not None and layout in older_releases(schema):
            notes.insert(0, f"{schema} as up to release {layout}")
        return {"schema": schema, "version": version, "fields": fields}, "; ".join(notes)
    return None, problem


def _readers() -> Iterator[tuple[str, Reader]]:
    for topic, coordinator in COORDINATOR_LOGS.items():
        yield topic, _of_coordinator(coordinator)
    for topic, metadata in METADATA_LOGS.items():
        yield topic, _of_metadata(metadata, preview=False)
    yield PREVIEW_METADATA_TOPIC, _of_metadata(CLUSTER_METADATA, preview=True)


_READERS = dict(_readers())

"""Bytes inside the records of groups: what members sent in the protocol of their own kind.

A classic group has one protocol type. The metadata and the assignments of ``consumer`` and
``connect`` members have schemas; of all other types the coordinator and the codec know none, so
these bytes stay bytes. Source: ConsumerProtocol, ConnectProtocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from harness.codec.data_framing.version_prefix import (
    VersionPrefixed,
    read_assignment,
    read_connect_assignment,
    read_connect_worker_state,
    read_subscription,
)
from harness.codec.dictionary_form import to_dict
from harness.codec.errors import CodecError
from harness.codec.structs import Message

Read = Callable[[bytes], VersionPrefixed[Any]]
CONSUMER = "consumer"
_METADATA: Mapping[str, Read] = {CONSUMER: read_subscription, "connect": read_connect_worker_state}
_ASSIGNMENTS: Mapping[str, Read] = {CONSUMER: read_assignment, "connect": read_connect_assignment}


class _Place(NamedTuple):
    """One field of bytes: its path, the object of the dictionary form, its name there, its form."""

    path: str
    fields: dict[str, Any]
    name: str
    read: Read | None


def with_embedded(message: Message, fields: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(``fields``, the dictionary form of ``message``, with embedded bytes decoded; notes).

    Decoded bytes become ``{"schema", "version", "fields"}``. Empty ones, those of an unknown
    protocol and unreadable ones stay hex; for the last two there is a note.
    """
    notes: list[str] = []
    places = _PLACES.get(type(message).__name__)
    for place in places(fields) if places else ():
        raw = bytes.fromhex(place.fields[place.name])
        if not raw:
            continue
        if place.read is None:
            notes.append(f"{place.path}: bytes of a protocol that is not known")
            continue
        try:
            place.fields[place.name] = _decoded(place.read(raw))
        except CodecError as error:
            notes.append(f"{place.path}: {error}")
    return fields, notes


def _decoded(found: VersionPrefixed[Any]) -> dict[str, Any]:
    cls = type(found.message)
    known = min(found.version, cls.message_spec.valid.highest)  # a newer one is read as this
    fields = to_dict(found.message, known)
    return {"schema": cls.__name__, "version": found.version, "fields": fields}


def _of_classic_group(fields: dict[str, Any]) -> Iterator[_Place]:
    kind = fields["protocol_type"]
    for index, member in enumerate(fields["members"]):
        path = f"members[{index}]"
        yield _Place(f"{path}.subscription", member, "subscription", _METADATA.get(kind))
        yield _Place(f"{path}.assignment", member, "assignment", _ASSIGNMENTS.get(kind))


def _of_classic_member(fields: dict[str, Any]) -> Iterator[_Place]:
    """A member of a consumer group that still speaks the classic protocol (KIP-848)."""
    classic = fields.get("classic_member_metadata") or {"supported_protocols": []}
    for index, protocol in enumerate(classic["supported_protocols"]):
        path = f"classic_member_metadata.supported_protocols[{index}].metadata"
        yield _Place(path, protocol, "metadata", _METADATA[CONSUMER])


_PLACES: Mapping[str, Callable[[dict[str, Any]], Iterator[_Place]]] = {
    "GroupMetadataValue": _of_classic_group,
    "ConsumerGroupMemberMetadataValue": _of_classic_member,
}

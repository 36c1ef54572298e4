"""The places of node addresses in messages, found from the message definitions.

An address is a text field that ends in ``host`` (or ``host_name``) beside a number that ends in
``port``: so an address in a new API is found without a line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from harness.codec.apis import APIS, Api
from harness.codec.layout import Layout, Slot, layout
from harness.codec.structs import Message
from harness.codec.versions import VersionRange
from harness.proxies.direction import Direction

PORT_KINDS = frozenset({"int32", "uint16"})
NODE_IDS = frozenset({"node_id", "broker_id", "id"})
"""Fields with a node's id, right before the address of that node."""
OF_APPLICATIONS = frozenset({"user_endpoint"})
"""The endpoint for queries of a Streams application (KIP-1071): it is no node, and the application
recognises itself by this address.
"""

METADATA_LOG_SINCE = {"FetchResponse": 12, "FetchSnapshotResponse": 0}
"""By message, the first version by which the metadata quorum reads its log (KIP-595, KIP-630)."""

REQUEST_INSIDE = {"EnvelopeRequest": "request_data"}
"""Fields that hold a whole request (KIP-590). The response in an envelope belongs to the client
behind the broker, and is rewritten where it goes to that client."""


class AddressKind(StrEnum):
    NODE = "node"
    RECORDS = "records"  # of the metadata log; of other topics they are not looked at
    REQUEST = "request"


class AddressPlace(NamedTuple):
    """``path`` as in ``brokers[].host``."""

    what: AddressKind
    path: str


def is_pair(first: Slot, second: Slot) -> bool:
    """True if two fields, in the order of the bytes, are host and port, either one first."""
    return _host_and_port(first, second) or _host_and_port(second, first)


def _host_and_port(host: Slot, port: Slot) -> bool:
    if host.field.kind != "string" or port.field.kind not in PORT_KINDS:
        return False
    before_host, host_word, _ = host.field.name.removesuffix("_name").rpartition("host")
    before_port, port_word, rest = port.field.name.rpartition("port")
    return bool(host_word and port_word) and not rest and before_host == before_port


def is_node_id(slot: Slot | None) -> bool:
    """True if a field, right before an address, holds the id of the node at that address."""
    return slot is not None and slot.field.kind == "int32" and slot.field.name in NODE_IDS


def is_metadata_log_reader(name: str, version: int) -> bool:
    """True if the records in this message may be those of the metadata log."""
    since = METADATA_LOG_SINCE.get(name)
    return since is not None and version >= since


def places(cls: type[Message], version: int) -> list[AddressPlace]:
    """All places of one version of a message."""
    spec = cls.message_spec
    return list(_places(cls, layout(spec, spec.root, version), ""))


def _places(cls: type[Message], own: Layout, path: str) -> Iterator[AddressPlace]:
    spec, version = cls.message_spec, own.version
    slots = [*own.plain, *own.tagged.values()]
    for first, second in zip(own.plain, own.plain[1:], strict=False):
        if is_pair(first, second):
            host = first if first.field.kind == "string" else second
            yield AddressPlace(AddressKind.NODE, path + host.field.name)
    for field in [slot.field for slot in slots]:
        if field.kind == "records" and is_metadata_log_reader(spec.name, version):
            yield AddressPlace(AddressKind.RECORDS, path + field.name)
        if REQUEST_INSIDE.get(spec.name) == field.name:
            yield AddressPlace(AddressKind.REQUEST, path + field.name)
        if field.struct is not None and field.name not in OF_APPLICATIONS:
            step = f"{field.name}[]." if field.kind == "array" else f"{field.name}."
            yield from _places(cls, layout(spec, field.struct, version), path + step)


class Holder(NamedTuple):
    """An API that holds addresses at one place: one row of the table."""

    direction: Direction
    api_key: int
    message: str
    place: AddressPlace
    versions: VersionRange


@cache
def known_frames(direction: Direction) -> dict[tuple[int, int], bool]:
    """(api key, version) -> whether its frames can hold an address; all known ones."""
    return {
        (api.key, version): bool(places(_class_of(api, direction), version))
        for api in APIS.values()
        for version in api.valid_versions
    }


def holders() -> list[Holder]:
    """The table of all places in all APIs, sorted."""
    found: dict[tuple[Direction, int, str, AddressPlace], list[int]] = {}
    for direction in Direction:
        for api in APIS.values():
            cls = _class_of(api, direction)
            for version in api.valid_versions:
                for place in places(cls, version):
                    found.setdefault((direction, api.key, cls.__name__, place), []).append(version)
    return sorted(
        Holder(*row, VersionRange(min(versions), max(versions))) for row, versions in found.items()
    )


def _class_of(api: Api, direction: Direction) -> type[Message]:
    return api.request if direction is Direction.UPSTREAM else api.response

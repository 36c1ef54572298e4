"""Frames with addresses in them, and their form after a rewriter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.codec import encode
from harness.codec.apis import APIS, Api
from harness.codec.header import encode_request, encode_response
from harness.codec.structs import Message, Struct
from harness.proxies.addresses import Address, AddressBook, AddressRewriter
from harness.proxies.addresses.places import AddressKind, holders
from harness.proxies.direction import Direction
from harness.proxies.seen import SeenConnection

PLACE = SeenConnection("one", "two", 0)
VIEWS = {Direction.UPSTREAM: "two", Direction.DOWNSTREAM: "one"}
HEADER_TAGS = {9: b"unknown"}

TABLE: list[tuple[Direction, int, int]] = sorted(
    {
        (row.direction, row.api_key, version)
        for row in holders()
        for version in row.versions
        if row.place.what is AddressKind.NODE
    }
)
"""Every direction, API and version with a node's address in separate fields."""


def proxy_of(view: str, node: Address) -> Address:
    """A name much longer than most, so that lengths of one byte grow to two."""
    return f"proxy-of-{node[0]}-for-{view}-{'x' * 120}", 40_000 + node[1] % 10_000


def rewriter() -> AddressRewriter:
    return AddressRewriter(AddressBook(proxy_of))


def class_of(direction: Direction, api: Api) -> type[Message]:
    return api.request if direction is Direction.UPSTREAM else api.response


def payload_of(direction: Direction, message: Message, version: int) -> bytes:
    api = APIS[message.message_spec.api_key or 0]
    if direction is Direction.UPSTREAM:
        flexible = api.request_header_version(version) >= 2
        return encode_request(message, version, 7, "me", HEADER_TAGS if flexible else None)
    flexible = api.response_header_version(version) >= 1
    return encode_response(message, version, 7, HEADER_TAGS if flexible else None)


def body_start(payload: bytes, message: Message, version: int) -> int:
    return len(payload) - len(encode(message, version))


def rewritten(
    by: AddressRewriter, direction: Direction, api: Api, version: int, payload: bytes
) -> bytes | None:
    """Rewrite as a proxy does: first check if the frame matters at all."""
    if not by.touches(direction, api.key, version):
        return None
    if direction is Direction.UPSTREAM:
        return by.request(payload, PLACE)
    return by.response(payload, (api.key, version), PLACE)


def structs_of(own: Any) -> Iterator[Struct]:
    """All structs in a message, itself first."""
    if isinstance(own, list):
        for one in own:
            yield from structs_of(one)
    elif isinstance(own, Struct):
        yield own
        for field in own.spec.fields:
            yield from structs_of(getattr(own, field.name))

"""Every version of every API with an address: addresses as the book says, all else the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.apis import APIS
from harness.codec.messages import MetadataResponse
from harness.codec.structs import Message
from harness.proxies.addresses import AddressBook, AddressRewriter
from harness.proxies.addresses.book import comparable
from harness.proxies.direction import Direction
from labs.message_values.values import QUICK, messages_at, rich
from tests.proxies.addresses.frames import (
    TABLE,
    VIEWS,
    body_start,
    class_of,
    payload_of,
    proxy_of,
    rewriter,
    rewritten,
    structs_of,
)
from tests.proxies.addresses.leaves import addresses, leaves, without_addresses

each = pytest.mark.parametrize(("direction", "key", "version"), TABLE)
HOSTS, PORTS = ("host", "host_name", "v0_host"), ("port", "v0_port")
IDS = {"node_id", "broker_id", "id"}


def with_numbered_addresses(message: Message, version: int) -> Message:
    """Give every host and port in it another value."""
    for number, own in enumerate(structs_of(message)):
        for field in [one for one in own.spec.fields if version in one.versions]:
            if field.name in HOSTS:
                setattr(own, field.name, f"node-{number}")
            elif field.name in PORTS:
                setattr(own, field.name, 9000 + number)
    return message


def check(direction: Direction, message: Message, version: int) -> int:
    """Check one message and return the number of its addresses."""
    cls, api = type(message), APIS[message.message_spec.api_key or 0]
    payload = payload_of(direction, message, version)
    start = body_start(payload, message, version)
    before = leaves(cls, version, payload, start)
    there = [one for one in addresses(before) if one[0] and 0 < one[1] <= 65_535]
    by = rewriter()
    found = rewritten(by, direction, api, version, payload)
    if found is None:
        assert not there
        return 0
    assert found[:start] == payload[:start]
    after = leaves(cls, version, found, start)
    assert without_addresses(after) == without_addresses(before)
    view = VIEWS[direction]
    assert addresses(after) == [
        proxy_of(view, (comparable(one[0]), one[1])) if one in there else one
        for one in addresses(before)
    ]
    assert by.counters == {"rewritten": 1, "addresses": len(there)}
    return len(there)


@each
def test_rewritten_frame_contains_proxy_addresses(
    direction: Direction, key: int, version: int
) -> None:
    message = with_numbered_addresses(rich(class_of(direction, APIS[key]), version), version)
    assert check(direction, message, version) >= 1


@each
def test_node_id_beside_address_is_recorded_in_book(
    direction: Direction, key: int, version: int
) -> None:
    message = with_numbered_addresses(rich(class_of(direction, APIS[key]), version), version)
    expected: dict[tuple[str, int], int | None] = {}
    for number, own in enumerate(structs_of(message)):
        names = {one.name for one in own.spec.fields if version in one.versions}
        if names.isdisjoint(HOSTS):
            continue
        address = (f"node-{number}", 9000 + number)
        expected[address] = None
        for name in names & IDS:
            setattr(own, name, number)
            expected[address] = number
    told: dict[tuple[str, int], int | None] = {}

    def make(view: str, node: tuple[str, int]) -> tuple[str, int]:
        told[node] = book.id_of(node)
        return proxy_of(view, node)

    book = AddressBook(make)
    payload = payload_of(direction, message, version)
    assert rewritten(AddressRewriter(book), direction, APIS[key], version, payload) is not None
    assert told == expected


@pytest.mark.rotates(8)
@settings(QUICK, max_examples=300)
@given(data=st.data())
def test_generated_message_is_rewritten_in_addresses_only(data: st.DataObject) -> None:
    direction, key, version = data.draw(st.sampled_from(TABLE))
    check(direction, data.draw(messages_at(class_of(direction, APIS[key]), version)), version)


@each
def test_empty_book_leaves_frame_unchanged(direction: Direction, key: int, version: int) -> None:
    api = APIS[key]
    message = with_numbered_addresses(rich(class_of(direction, api), version), version)
    payload = payload_of(direction, message, version)
    by = AddressRewriter(AddressBook())
    assert rewritten(by, direction, api, version, payload) is None
    assert by.counters == {}


@each
def test_a_rewritten_frame_is_not_rewritten_again(
    direction: Direction, key: int, version: int
) -> None:
    api, by = APIS[key], rewriter()
    message = with_numbered_addresses(rich(class_of(direction, api), version), version)
    once = rewritten(by, direction, api, version, payload_of(direction, message, version))
    assert once is not None
    assert rewritten(by, direction, api, version, once) is None


@each
def test_truncated_or_longer_frame_stays_unchanged_and_is_counted(
    direction: Direction, key: int, version: int
) -> None:
    api, by = APIS[key], rewriter()
    message = with_numbered_addresses(rich(class_of(direction, api), version), version)
    payload = payload_of(direction, message, version)
    start = body_start(payload, message, version)
    cuts = [payload[:stop] for stop in range(start, len(payload))]
    for count, damaged in enumerate([*cuts, payload + b"\0"], start=1):
        assert rewritten(by, direction, api, version, damaged) is None
        assert by.counters == {"unreadable": count}


@settings(QUICK, max_examples=300)
@given(data=st.data())
def test_rewriting_damaged_frame_never_raises(data: st.DataObject) -> None:
    direction, key, version = data.draw(st.sampled_from(TABLE))
    api = APIS[key]
    message = with_numbered_addresses(rich(class_of(direction, api), version), version)
    raw = bytearray(payload_of(direction, message, version))
    at = data.draw(st.integers(0, len(raw)))
    raw[at : at + data.draw(st.integers(0, 4))] = data.draw(
        st.binary(max_size=6) | st.sampled_from([b"\xff" * 5, b"\x7f\xff\xff\xff"])
    )
    rewritten(rewriter(), direction, api, version, bytes(raw))


def test_rewriting_preserves_overlong_varints() -> None:
    """Metadata v12, its array counts and tag sections in more bytes than they need."""
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="h", port=9092, rack="r")
    plain = payload_of(Direction.DOWNSTREAM, MetadataResponse(brokers=[broker]), 12)
    element = b"\x02" + b"\0\0\0\x01" + b"\x02h"
    assert plain.count(element) == 1
    odd = plain.replace(element, b"\x82\x80\x00" + b"\0\0\0\x01" + b"\x82\x00h")
    found = rewritten(rewriter(), Direction.DOWNSTREAM, APIS[3], 12, odd)
    host, port = proxy_of("one", ("h", 9092))
    wanted = b"\x82\x80\x00" + b"\0\0\0\x01" + bytes([len(host) + 1 & 127 | 128, 1]) + host.encode()
    assert found == odd.replace(
        b"\x82\x80\x00" + b"\0\0\0\x01" + b"\x82\x00h" + (9092).to_bytes(4, "big"),
        wanted + port.to_bytes(4, "big"),
    )


def test_unknown_api_or_version_is_counted() -> None:
    by = rewriter()
    for _ in range(2):
        assert not by.touches(Direction.DOWNSTREAM, 3, 99)
    assert not by.touches(Direction.UPSTREAM, 12_345, 0)
    assert not by.touches(Direction.UPSTREAM, 3, 12)
    assert by.counters == {"unknown_version": 2, "unknown_api": 1}

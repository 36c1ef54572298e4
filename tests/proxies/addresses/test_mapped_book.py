"""Advertised addresses that cannot be reached, replaced in every response that carries them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.codec.apis import APIS
from harness.codec.structs import Message
from harness.proxies.addresses import Address, AddressRewriter, MappedBook
from harness.proxies.direction import Direction
from labs.message_values.values import rich
from tests.proxies.addresses.frames import (
    TABLE,
    VIEWS,
    body_start,
    class_of,
    payload_of,
    rewritten,
    structs_of,
)
from tests.proxies.addresses.leaves import addresses, leaves

NODE, LISTENER = 7, 39_092
SHOWN = ("Kafka-7.Inside", 9092)
BOUND, MADE_HOST = ("127.0.0.1", LISTENER), "127.0.0.9"
CLIENT, BROKER = VIEWS[Direction.DOWNSTREAM], VIEWS[Direction.UPSTREAM]
IDS = {"node_id", "broker_id"}
WITHOUT_ID = {("DescribeQuorumResponse", 2), ("UpdateRaftVoterResponse", 0)}
"""Responses with addresses of controllers, and no id right before these."""
Reports = list[tuple[Address, int | None, Address]]


def book_of(*reachable: tuple[Address, Address], limit: int = 9) -> tuple[MappedBook, Reports]:
    """A book for clients with a proxy bound to node 7; other proxies listen at 127.0.0.9."""
    reports: Reports = []
    book = MappedBook(
        lambda view, node: (MADE_HOST, node[1]) if view == CLIENT else None,
        view=CLIENT,
        of_node=lambda _shown, node_id: BOUND if node_id == NODE else None,
        mapped=lambda *report: reports.append(report),
        reachable=reachable,
        limit=limit,
    )
    return book, reports


def all_at(message: Message, version: int, address: Address, node_id: int) -> Message:
    """Give all nodes in a message this address and this id."""
    values: dict[str, Any] = dict.fromkeys(IDS, node_id)
    values |= dict.fromkeys(("host", "host_name", "v0_host"), address[0])
    values |= dict.fromkeys(("port", "v0_port"), address[1])
    for own in structs_of(message):
        for field in own.spec.fields:
            if field.name in values and version in field.versions:
                setattr(own, field.name, values[field.name])
    return message


def addresses_after(book: MappedBook, key: int, version: int, node_id: int) -> set[Address]:
    """The addresses of nodes in a response, each advertised as SHOWN, as clients receive it."""
    api, direction = APIS[key], Direction.DOWNSTREAM
    cls = class_of(direction, api)
    message = all_at(rich(cls, version), version, SHOWN, node_id)
    payload = payload_of(direction, message, version)
    start = body_start(payload, message, version)
    found = rewritten(AddressRewriter(book), direction, api, version, payload)
    return set(addresses(leaves(cls, version, payload if found is None else found, start)))


RESPONSES = [(key, version) for direction, key, version in TABLE if direction != Direction.UPSTREAM]
each_response = pytest.mark.parametrize(("key", "version"), RESPONSES)


@each_response
def test_bound_node_has_its_proxy_in_every_response(key: int, version: int) -> None:
    book, _ = book_of()
    without_id = (APIS[key].response.__name__, version) in WITHOUT_ID
    expected = (MADE_HOST, SHOWN[1]) if without_id else BOUND
    assert addresses_after(book, key, version, NODE) == {expected}


@each_response
def test_mapped_name_has_its_proxy_in_every_response(key: int, version: int) -> None:
    book, reports = book_of((("kafka-7.inside", 9092), ("10.0.0.7", 555)))
    assert addresses_after(book, key, version, NODE + 1) == {(MADE_HOST, 555)}
    ids = {node_id for _, node_id, _ in reports}
    assert ids <= {NODE + 1, None}
    assert {(shown, found) for shown, _, found in reports} == {
        (("kafka-7.inside", 9092), (MADE_HOST, 555))
    }


def test_map_precedes_node_id_and_both_precede_the_book() -> None:
    book, reports = book_of((SHOWN, ("10.0.0.7", 555)))
    assert book.address_for(CLIENT, *SHOWN, NODE) == (MADE_HOST, 555)
    assert book.address_for(CLIENT, "elsewhere", 1, NODE) == BOUND
    assert book.address_for(CLIENT, "elsewhere", 1, NODE + 1) == (MADE_HOST, 1)
    assert book.address_for(CLIENT, "elsewhere", 1) == (MADE_HOST, 1)
    assert len(reports) == 2


def test_swapped_addresses_are_mapped_once() -> None:
    one, two = ("a", 1), ("b", 2)
    book, _ = book_of((one, two), (two, one))
    assert [book.address_for(CLIENT, *each) for each in (one, two)] == [
        (MADE_HOST, 2),
        (MADE_HOST, 1),
    ]


def test_nodes_that_advertise_one_address_have_their_own_proxies() -> None:
    book, _ = book_of()
    assert book.address_for(CLIENT, "localhost", 9092, NODE) == BOUND
    assert book.address_for(CLIENT, "localhost", 9092, NODE + 1) == (MADE_HOST, 9092)


def test_address_of_bound_proxy_stays() -> None:
    book, _ = book_of()
    assert book.address_for(CLIENT, *BOUND, NODE) is None


def test_ipv6_addresses_are_mapped_in_any_spelling() -> None:
    book, _ = book_of((("fd00::7", 9092), ("::1", 19_092)))
    assert book.address_for(CLIENT, "FD00:0:0::7", 9092) == (MADE_HOST, 19_092)


def test_mapped_address_without_proxy_is_the_reachable_one() -> None:
    book, _ = book_of((SHOWN, ("10.0.0.7", 555)), limit=1)
    assert book.address_for(CLIENT, "other", 1) == (MADE_HOST, 1)
    assert book.address_for(CLIENT, *SHOWN) == ("10.0.0.7", 555)


def test_addresses_for_brokers_are_not_mapped() -> None:
    book, reports = book_of((SHOWN, ("10.0.0.7", 555)))
    assert book.address_for(BROKER, *SHOWN, NODE) is None
    assert reports == []


@pytest.mark.parametrize(("host", "port"), [("", 9092), ("h", -1), ("h", 0), ("h", 65_536)])
def test_bound_node_without_address_stays_so(host: str, port: int) -> None:
    """FindCoordinator and Metadata name nodes that are away by an empty host or port -1."""
    book, _ = book_of()
    assert book.address_for(CLIENT, host, port, NODE) is None


def test_reports_are_made_once_and_bounded() -> None:
    book, reports = book_of(limit=3)
    for port in (1, 1, 2, 3, 4):
        assert book.address_for(CLIENT, "h", port, NODE) == BOUND
    assert reports == [(("h", port), NODE, BOUND) for port in (1, 2, 3)]

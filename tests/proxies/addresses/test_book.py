"""Choice of the proxy for a view."""

from __future__ import annotations

import pytest

from harness.proxies.addresses import Address, AddressBook

NODE, OTHER = ("broker-1", 9092), ("broker-2", 9092)


def counting(start: int = 1) -> tuple[AddressBook, list[tuple[str, Address]]]:
    """A book that makes proxies at ports from ``start`` on, and the list of its calls."""
    asked: list[tuple[str, Address]] = []

    def make(view: str, node: Address) -> Address:
        asked.append((view, node))
        return "127.0.0.1", start + len(asked) - 1

    return AddressBook(make), asked


def test_a_proxy_is_made_once_for_each_view_and_node() -> None:
    book, asked = counting()
    assert book.address_for("client", *NODE) == ("127.0.0.1", 1)
    assert book.address_for("client", *OTHER) == ("127.0.0.1", 2)
    assert book.address_for("3", *NODE) == ("127.0.0.1", 3)
    assert book.address_for("client", *NODE) == ("127.0.0.1", 1)
    assert asked == [("client", NODE), ("client", OTHER), ("3", NODE)]
    assert book.counters == {"made": 3}
    assert dict(book.proxies)["3", NODE] == ("127.0.0.1", 3)


def test_proxy_address_of_same_view_is_not_mapped() -> None:
    book, asked = counting()
    proxy = book.address_for("client", *NODE)
    assert proxy is not None
    assert book.address_for("client", *proxy) is None
    assert len(asked) == 1


def test_proxy_address_of_another_view_maps_to_proxy_of_its_node() -> None:
    """The controller receives broker 1's proxy address, and sends it on to broker 2."""
    book, asked = counting()
    seen_by_controller = book.address_for("controller", *NODE)
    assert seen_by_controller is not None
    assert book.address_for("2", *seen_by_controller) == ("127.0.0.1", 2)
    assert asked[1] == ("2", NODE)
    assert book.node_behind(seen_by_controller) == NODE
    assert book.node_behind(NODE) is None


@pytest.mark.parametrize(("host", "port"), [("", 9092), ("h", -1), ("h", 0), ("h", 65_536)])
def test_invalid_address_is_not_mapped(host: str, port: int) -> None:
    book, asked = counting()
    assert book.address_for("client", host, port) is None
    assert asked == []


def test_host_names_match_in_any_case_and_by_alias() -> None:
    asked: list[tuple[str, Address]] = []

    def make(view: str, node: Address) -> Address:
        asked.append((view, node))
        return "localhost", 1000 + len(asked)

    book = AddressBook(make, host_aliases={"localhost": "127.0.0.1"})
    first = book.address_for("client", "localhost", 9092)
    assert first == book.address_for("client", "127.0.0.1", 9092) == ("127.0.0.1", 1001)
    assert book.address_for("client", "LOCALHOST", 9092) == first
    assert book.address_for("client", "Kafka-1.Example.", 9092) == ("127.0.0.1", 1002)
    assert book.address_for("client", "kafka-1.example", 9092) == ("127.0.0.1", 1002)
    assert book.address_for("client", "LocalHost", 1001) is None  # a proxy of this view
    assert asked == [("client", ("127.0.0.1", 9092)), ("client", ("kafka-1.example", 9092))]


def test_spellings_of_an_ipv6_address_have_one_proxy() -> None:
    book, asked = counting()
    first = book.address_for("client", "fd00:0:0:0:0:0:0:1", 9092)
    assert first == book.address_for("client", "FD00::1", 9092)
    assert asked == [("client", ("fd00::1", 9092))]


def test_book_without_factory_returns_added_addresses_only() -> None:
    book = AddressBook()
    book.add("client", NODE, ("127.0.0.1", 5))
    assert book.address_for("client", *NODE) == ("127.0.0.1", 5)
    assert book.address_for("client", *OTHER) is None
    assert book.address_for("1", *NODE) is None
    with pytest.raises(ValueError, match=r"127.0.0.1:5 stands before broker-1:9092"):
        book.add("client", OTHER, ("127.0.0.1", 5))


def test_node_without_proxy_is_counted_as_left_direct() -> None:
    book = AddressBook(lambda _view, _node: None)
    assert book.address_for("client", *NODE) is None
    assert book.counters == {"left_direct": 1}
    assert book.proxies == {}


def test_direct_view_gets_node_address_for_proxy_of_other_view() -> None:
    book = AddressBook(lambda view, _node: ("127.0.0.1", 5) if view == "client" else None)
    proxy = book.address_for("client", *NODE)
    assert proxy is not None
    assert book.address_for("1", *proxy) == NODE


def test_failed_proxy_creation_is_counted_and_retried() -> None:
    calls = 0

    def make(view: str, node: Address) -> Address:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError("no port left")
        return "127.0.0.1", 7

    book = AddressBook(make)
    assert book.address_for("client", *NODE) is None
    assert book.counters == {"failed": 1}
    assert str(book.last_error) == "no port left"
    assert book.address_for("client", *NODE) == ("127.0.0.1", 7)


def test_full_book_makes_no_more_proxies() -> None:
    refused: list[tuple[str, Address]] = []
    book = AddressBook(
        lambda _view, node: ("127.0.0.1", node[1] + 1),
        limit=2,
        full=lambda view, node: refused.append((view, node)),
    )
    assert book.address_for("client", "h", 1) == ("127.0.0.1", 2)
    assert book.address_for("client", "h", 3) == ("127.0.0.1", 4)
    assert book.address_for("client", "h", 5) is None
    assert book.address_for("client", "h", 1) == ("127.0.0.1", 2)
    assert book.counters == {"made": 2, "full": 1}
    assert refused == [("client", ("h", 5))]


def test_forgotten_proxy_is_made_again() -> None:
    book, asked = counting()
    first = book.address_for("client", *NODE)
    assert first is not None
    book.forget(first)
    assert book.node_behind(first) is None
    assert book.address_for("client", *NODE) == ("127.0.0.1", 2)
    assert book.address_for("3", *first) == ("127.0.0.1", 3), "it is an address like others"
    assert [node for _, node in asked] == [NODE, NODE, first]
    book.forget(("nobody", 1))


def test_node_id_is_known_while_node_has_proxy() -> None:
    made: list[int | None] = []

    def make(view: str, node: Address) -> Address | None:
        made.append(book.id_of(node))
        return None if view == "1" else ("127.0.0.1", len(made))

    book = AddressBook(make)
    assert book.address_for("1", *NODE, 7) is None
    assert book.id_of(NODE) is None, "it has no proxy"
    proxy = book.address_for("client", *NODE, 7)
    assert proxy is not None
    book.address_for("client", *OTHER, -1)
    assert made == [7, 7, None]
    assert (book.id_of(NODE), book.id_of(OTHER)) == (7, None)
    book.forget(proxy)
    assert book.id_of(NODE) is None

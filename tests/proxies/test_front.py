"""Proxies before a cluster, added and removed."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

import pytest
from rich.console import Console

from harness.base.address import Address
from harness.commands.proxy_display import Lines, in_units
from harness.commands.proxy_table import LiveTable
from harness.proxies.control.errors import ProxyExists
from harness.proxies.control.proxy_settings import ProxySettings
from harness.proxies.direction import Direction
from harness.proxies.event import Event
from harness.proxies.front import Front
from harness.proxies.rules import responses
from harness.proxies.upstream import Upstream
from harness.targets.ports import free_ports

NODE, OTHER = Address("127.0.0.1", 9), Address("127.0.0.1", 10)
CLIENT = "client"


def run(
    work: Callable[[Front], Awaitable[None]],
    *upstreams: Upstream,
    advertise: str = "",
    reachable: Mapping[Address, Address] = MappingProxyType({}),
    events: list[Event] | None = None,
) -> None:
    """Run ``work`` with these proxies on a new loop."""
    heard: list[Event] = [] if events is None else events

    async def main() -> None:
        front = Front(upstreams, advertise=advertise, reachable=reachable, tell=heard.append)
        try:
            for upstream in upstreams:
                await front.add(upstream)
            await work(front)
        finally:
            await front.stop()
        assert len(front.proxies) == 0

    asyncio.run(main())


def test_address_book_returns_proxy_for_any_loopback_spelling() -> None:
    async def work(front: Front) -> None:
        told = front.told_address(front.proxies["1"])
        assert front.book.address_for(CLIENT, *NODE) == told
        assert front.book.address_for(CLIENT, "localhost", NODE.port) == told
        assert list(front.proxies) == ["1"]

    run(work, Upstream(NODE, name="1"))


def test_unknown_node_gets_new_proxy_for_clients_only() -> None:
    async def work(front: Front) -> None:
        first = front.book.address_for(CLIENT, *OTHER)
        assert first == front.told_address(front.proxies[str(OTHER)])
        assert front.book.address_for(CLIENT, *OTHER) == first
        assert front.proxies[str(OTHER)].enabled
        assert front.book.address_for("1", *OTHER) is None, "only clients go by these proxies"
        assert len(front.proxies) == 2

    run(work, Upstream(NODE))


def test_proxy_of_node_with_known_id_is_named_by_id() -> None:
    """Only the first of its listeners; a proxy that already has the name keeps it."""

    async def work(front: Front) -> None:
        for port, node_id in ((10, 2), (11, 2), (12, 3)):
            front.book.address_for(CLIENT, OTHER.host, port, node_id)
        names = {str(NODE), "3", "2", f"{OTHER.host}:11", f"{OTHER.host}:12"}
        assert set(front.proxies) == names
        assert front.proxies["2"].upstream == OTHER
        assert [each.destination for each in front.proxies.values()] == list(front.proxies)

    async def with_taken_name(front: Front) -> None:
        await front.proxies.add(ProxySettings("3", Address(NODE.host, 8)))
        await work(front)

    run(with_taken_name, Upstream(NODE))


def test_address_book_returns_proxy_added_over_api() -> None:
    async def work(front: Front) -> None:
        made = await front.proxies.add(ProxySettings("mine", OTHER))
        assert front.book.address_for(CLIENT, *OTHER) == front.told_address(made)
        assert sorted(front.proxies) == sorted(["mine", str(NODE)])

    run(work, Upstream(NODE))


def test_address_book_replaces_removed_proxy() -> None:
    async def work(front: Front) -> None:
        first = front.book.address_for(CLIENT, *OTHER)
        await front.proxies.remove(str(OTHER))
        second = front.book.address_for(CLIENT, *OTHER)
        assert second == front.told_address(front.proxies[str(OTHER)])
        assert second is not None
        assert front.book.node_behind(second) == OTHER
        if first != second:
            assert first is not None
            assert front.book.node_behind(first) is None

    run(work, Upstream(NODE))


def test_address_book_returns_new_listen_address_of_moved_proxy() -> None:
    async def work(front: Front) -> None:
        before = front.proxies["1"].listen
        await front.proxies.update("1", lambda one: one.updated({"listen": "127.0.0.1:0"}))
        now = front.proxies["1"]
        assert now.listen != before
        assert (now.source, now.destination) == (CLIENT, "1")
        assert front.book.address_for(CLIENT, *NODE) == front.told_address(now)

    run(work, Upstream(NODE, name="1"))


def test_address_book_returns_disabled_proxy() -> None:
    """The refusal is the fault; clients must not get another address."""

    async def work(front: Front) -> None:
        await front.proxies["1"].disable()
        told = front.told_address(front.proxies["1"])
        assert front.book.address_for(CLIENT, *NODE) == told

    run(work, Upstream(NODE, name="1"))


def test_address_book_returns_advertised_host() -> None:
    async def work(front: Front) -> None:
        port = front.proxies["1"].listen[1]
        assert front.book.address_for(CLIENT, *NODE) == ("gate.example", port)
        assert front.book.address_for(CLIENT, "gate.example", port) is None
        await front.proxies.remove("1")
        found = front.book.address_for(CLIENT, *NODE)
        assert found is not None
        assert found[0] == "gate.example"

    run(work, Upstream(NODE, name="1"), advertise="gate.example")


def test_bound_node_has_its_proxy_at_any_advertised_address() -> None:
    """Also when the proxy has moved; removed, it binds no more, and gives its name to no other."""
    events: list[Event] = []

    async def work(front: Front) -> None:
        first = front.told_address(front.proxies["1"])
        assert front.book.address_for(CLIENT, "Kafka-1", 9092, 1) == first
        assert front.book.address_for(CLIENT, "kafka-1", 9092, 1) == first
        await front.proxies.update("1", lambda one: one.updated({"listen": "127.0.0.1:0"}))
        moved = front.told_address(front.proxies["1"])
        assert front.book.address_for(CLIENT, "kafka-1", 9092, 1) == moved
        assert list(front.proxies) == ["1"]
        await front.proxies.remove("1")
        front.book.address_for(CLIENT, *OTHER, 1)
        assert (list(front.proxies), front.learned) == ([str(OTHER)], {str(OTHER)})

    run(work, Upstream(NODE, name="1"), events=events)
    mapped = [event.detail for event in events if event.what == "mapped"]
    assert [(each["advertised"], each["node"]) for each in mapped] == [("kafka-1:9092", 1)]


def test_controller_listener_of_a_bound_node_has_its_own_proxy() -> None:
    async def work(front: Front) -> None:
        told = front.told_address(front.proxies["controller"])
        assert front.book.address_for(CLIENT, *OTHER, 1) == told

    run(work, Upstream(NODE, name="1"), Upstream(OTHER, name="controller"))


def test_mapped_address_gets_proxy_before_the_reachable_one() -> None:
    async def work(front: Front) -> None:
        found = front.book.address_for(CLIENT, "kafka-2", 9092, 2)
        assert found == front.told_address(front.proxies["2"])
        assert front.proxies["2"].upstream == OTHER
        assert front.book.address_for(CLIENT, *OTHER) == found
        assert front.learned == set()

    run(work, Upstream(NODE, name="1"), reachable={Address("KAFKA-2", 9092): OTHER})


def test_address_mapped_to_an_own_proxy_is_that_proxy() -> None:
    listen = Address("127.0.0.1", free_ports(1)[0])

    async def work(front: Front) -> None:
        assert front.book.address_for(CLIENT, "kafka-1", 9092, 0) == listen
        assert list(front.proxies) == ["one"]

    upstream = Upstream(NODE, listen, "one")
    run(work, upstream, reachable={Address("kafka-1", 9092): listen})


def test_node_at_upstream_of_another_node_is_reported_once() -> None:
    events: list[Event] = []

    async def work(front: Front) -> None:
        told = front.told_address(front.proxies["1"])
        for _ in range(2):
            assert front.book.address_for(CLIENT, *NODE, 0) == told

    run(work, Upstream(NODE, name="1"), events=events)
    assert [(event.what, event.detail) for event in events] == [
        ("other_node", {"advertised": str(NODE), "node": 0, "upstream_of": 1})
    ]


def test_two_proxies_before_one_upstream_are_both_left_alone() -> None:
    async def work(front: Front) -> None:
        one, two = (front.told_address(front.proxies[name]) for name in ("one", "two"))
        assert front.book.address_for(CLIENT, *NODE) == one
        assert front.book.address_for(CLIENT, *one) is None
        assert front.book.address_for(CLIENT, *two) is None

    run(work, Upstream(NODE, name="one"), Upstream(NODE, name="two"))


def test_upstream_with_taken_name_is_refused_and_adds_no_proxy() -> None:
    async def work(front: Front) -> None:
        with pytest.raises(ProxyExists):
            await front.add(Upstream(OTHER, name="1"))
        assert list(front.proxies) == ["1"]

    run(work, Upstream(NODE, name="1"))


def test_status_lines_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    async def work(front: Front) -> None:
        lines = Lines(front)
        for _ in range(3):
            lines.tick()
            lines(Event(2041.0, "fired", "client->1", rule="slow"))
            lines(Event(2041.0, "skipped", "client->1", rule="slow"))
            lines(Event(2041.0, "error", "client->1", detail={"error": "E"}))
            lines(Event(2041.0, "released", rule="slow", detail={"by": "other"}))
        lines(Event(2041.0, "cut", "client->1", direction=Direction.UPSTREAM))
        await front.proxies["1"].disable()
        lines.tick()
        await front.proxies.remove("1")
        lines.end()
        assert lines.close()

    run(work, Upstream(NODE, name="1"))
    said = capsys.readouterr().out.splitlines()
    address = said[0].split()[0]
    assert said == [
        f"{address} stands for {NODE} (1)",
        '2.041 s  fired "slow" client->1 for the first time',
        '2.041 s  skipped "slow" client->1 for the first time',
        "2.041 s  error client->1 error=E",
        "2.041 s  cut client->1 upstream",
        f"{address} stands for {NODE} (1), and is down",
        "1: its proxy is gone",
    ]


def test_unreachable_advertised_address_is_reported_with_advice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def work(front: Front) -> None:
        lines = Lines(front)
        front.book.address_for(CLIENT, *OTHER, 2)
        for name in ("1", "2"):
            front.proxies[name].counters.not_connected += 1
        lines.tick()
        assert lines.close()

    run(work, Upstream(NODE, name="1"))
    said = capsys.readouterr().out.splitlines()
    assert f"{NODE} could not be reached" in said
    assert (
        f"{OTHER} could not be reached; the cluster advertises it: give the address that can be "
        f"reached from here with --upstream ID=HOST:PORT or --map {OTHER}=HOST:PORT"
    ) in said


def test_live_table_shows_links_rules_and_events() -> None:
    out = io.StringIO()

    async def work(front: Front) -> None:
        front.rules.arm(responses("Produce").named("lost").drop())
        table = LiveTable(front, Console(file=out, width=160, force_terminal=True))
        table.say("control API at http://127.0.0.1:8474")
        table(Event(1.0, "cut", "client->1"))
        front.proxies["1"].cut(Direction.UPSTREAM)
        table.tick()
        table.end()
        assert table.close()

    run(work, Upstream(NODE, name="1"))
    shown = out.getvalue()
    for word in ("client->1", str(NODE), "cut upstream", "lost", "control API", "0.001 s  cut"):
        assert word in shown


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 60, "5242880.0 TiB")]
)
def test_byte_count_is_formatted_with_unit(count: int, text: str) -> None:
    assert in_units(count) == text

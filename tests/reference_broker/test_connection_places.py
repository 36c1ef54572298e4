"""The places of connections: of all addresses, of one, and of one with a limit of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from harness.client.connection import Connection
from harness.codec.messages import ApiVersionsRequest
from harness.reference_broker.connection_places import Admission, ConnectionPlaces
from tests.reference_broker.running import running_broker

HERE, OTHER = "127.0.0.1", "192.0.2.1"
SILENT_MS = 200
OF_ALL, OF_ONE = "max.connections", "max.connections.per.ip"
OVERRIDES = "max.connections.per.ip.overrides"


@dataclass(eq=False)
class Made:
    """A connection of an address, and what the places made of it."""

    ip: str
    done: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.done.append("begun")

    def abort(self) -> None:
        self.done.append("aborted")

    def close_after(self, delay_ms: int) -> None:
        self.done.append(f"closed after {delay_ms}")


def places_with(**limits: str) -> tuple[ConnectionPlaces, dict[str, str]]:
    configs = {OF_ALL: "100", OF_ONE: "100", **{k.replace("_", "."): v for k, v in limits.items()}}
    return ConnectionPlaces(configs.get), configs


@pytest.mark.parametrize(
    ("overrides", "served"),
    [
        ("", [1, 1]),
        (f"{HERE}:3", [3, 1]),
        (f" {OTHER}:2 , localhost:0 ", [0, 2]),
        (f"{HERE}, :5, {OTHER}:x", [1, 1]),
    ],
)
def test_address_has_limit_of_its_own_or_that_of_all(overrides: str, served: list[int]) -> None:
    places, _ = places_with(max_connections_per_ip="1", max_connections_per_ip_overrides=overrides)
    found = [
        [places.take(Made(ip)) for _ in range(4)].count(Admission.SERVED) for ip in (HERE, OTHER)
    ]
    assert found == served


def test_changed_limit_holds_for_later_connections() -> None:
    places, configs = places_with()
    first = Made(HERE)
    assert places.take(first) is Admission.SERVED
    configs[OF_ONE] = "1"
    assert places.take(Made(HERE)) is Admission.REFUSED
    configs[OF_ONE] = "2"
    assert places.take(Made(HERE)) is Admission.SERVED
    places.leave(first)
    assert places.take(Made(HERE)) is Admission.SERVED


def test_connections_wait_in_their_order_and_may_be_refused_then() -> None:
    places, _ = places_with(max_connections="2", max_connections_per_ip="1")
    served = [Made(HERE), Made(OTHER)]
    assert [places.take(one) for one in served] == [Admission.SERVED] * 2
    waiting = [Made(HERE), Made(OTHER), Made(HERE)]
    assert [places.take(one) for one in waiting] == [Admission.WAITS] * 3
    places.leave(served[1])
    assert [one.done for one in waiting] == [["aborted"], ["begun"], []]
    places.leave(waiting[2])
    places.leave(waiting[1])
    assert not places.are_free
    places.leave(served[0])
    assert places.are_free


def test_waiting_connection_is_served_when_another_ends() -> None:
    with running_broker({OF_ALL: "1"}) as address:
        with Connection(address) as first, Connection(address) as second:
            first.ask(ApiVersionsRequest(), 0)
            second.send(ApiVersionsRequest(), 0)
            second.expect_silence(SILENT_MS)
            first.close()
            second.receive()


def test_broker_stops_while_connection_waits() -> None:
    with running_broker({OF_ALL: "1"}) as address:
        first, second = Connection(address), Connection(address)
        first.ask(ApiVersionsRequest(), 0)
        second.send(ApiVersionsRequest(), 0)
    for connection in (first, second):
        connection.expect_closed()
        connection.close()


def test_a_connection_above_the_rate_waits_and_takes_no_place() -> None:
    configs, delays = {OF_ALL: "1", OF_ONE: "9"}, {HERE: 700}
    places = ConnectionPlaces(configs.get, lambda ip: delays.get(ip, 0))
    throttled, served, waiting = Made(HERE), Made(OTHER), Made(HERE)
    assert places.take(throttled) is Admission.WAITS
    assert throttled.done == ["closed after 700"]
    assert places.take(served) is Admission.SERVED
    assert places.take(waiting) is Admission.WAITS
    places.leave(served)
    assert waiting.done == ["closed after 700"]
    assert set(places.connections) == {throttled, waiting}
    places.leave(throttled)
    places.leave(waiting)
    assert places.are_free

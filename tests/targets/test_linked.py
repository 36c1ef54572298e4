"""Links over real sockets, without a Kafka: an echo server is the broker."""

import contextlib
import errno
import select
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.frame import frame
from harness.codec.messages import ApiVersionsRequest
from harness.proxies.links import Link, Links
from harness.proxies.partitions import isolate_one
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.runner.faults import requests, responses, ruled, slowed
from harness.targets.errors import TargetError
from harness.targets.kafka.link_plan import PlannedLink
from harness.targets.link_proxies import open_links
from harness.targets.linked import LinkedKafka
from harness.targets.reference import ReferenceBroker
from harness.targets.start_again import StartAgain
from labs.awaiting import await_that
from labs.hang_limit import HANGS_AFTER_S

ANY = Address("127.0.0.1", 0)
TIMEOUT_S = HANGS_AFTER_S
HELLO = frame(b"hello...")
"""A frame of no API, long enough to be a request or a response."""


@pytest.fixture
def echo() -> Iterator[Address]:
    """A server that sends back what it gets."""
    with socket.create_server(ANY) as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        try:
            yield Address(*server.getsockname())
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def serve(server: socket.socket) -> None:
    with contextlib.ExitStack() as held:
        while True:
            try:
                accepted, _ = server.accept()
            except OSError:  # shut down
                return
            held.enter_context(accepted)
            threading.Thread(target=send_back, args=(accepted,), daemon=True).start()


def send_back(accepted: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := accepted.recv(4096):
            accepted.sendall(data)


@pytest.fixture
def links(echo: Address) -> Iterator[Links[Proxy]]:
    ends = [("client", "1"), ("1", "2"), ("2", "1"), ("1", "zookeeper")]
    with RunningProxies() as net:
        yield open_links(net, [PlannedLink(source, to, ANY, echo) for source, to in ends])


def has_bytes(*ends: socket.socket) -> bool:
    return bool(select.select(ends, [], [], 0)[0])


def test_cut_links_hold_bytes_and_others_pass_them(links: Links[Proxy]) -> None:
    with contextlib.ExitStack() as held:
        ends = {
            str(link): held.enter_context(socket.create_connection(link.proxy.listen, TIMEOUT_S))
            for link in links.values()
        }
        active = links.partition(isolate_one(1, [2]))
        for end in ends.values():
            end.sendall(HELLO)
        for untouched in ("client->1", "1->zookeeper"):
            assert ends[untouched].recv(len(HELLO), socket.MSG_WAITALL) == HELLO
        assert not has_bytes(ends["1->2"], ends["2->1"])
        links[1, 2].cut()
        active.heal()
        assert ends["2->1"].recv(len(HELLO), socket.MSG_WAITALL) == HELLO
        assert not has_bytes(ends["1->2"])
        links.heal()
        assert ends["1->2"].recv(len(HELLO), socket.MSG_WAITALL) == HELLO


def test_slowed_link_delays_bytes_and_recovers(links: Links[Proxy]) -> None:
    link = links[1, 2]
    with slowed(link, 300), socket.create_connection(link.proxy.listen, TIMEOUT_S) as end:
        began = time.monotonic()
        end.sendall(HELLO)
        assert end.recv(len(HELLO), socket.MSG_WAITALL) == HELLO
        assert time.monotonic() - began >= 0.3
        assert link.call(lambda proxy: len(proxy.toxics)) == 1
    assert link.call(lambda proxy: len(proxy.toxics)) == 0


API = "ApiVersions"


@pytest.fixture
def to_broker() -> Iterator[Links[Proxy]]:
    with ReferenceBroker() as broker, RunningProxies() as net:
        (address,) = broker.addresses
        yield open_links(net, [PlannedLink("1", "controller", ANY, address)])


def opened(link: Link[Proxy]) -> Connection:
    return Connection(link.proxy.listen, timeout_ms=TIMEOUT_S * 1000)


def test_response_on_link_is_held_until_released(to_broker: Links[Proxy]) -> None:
    link = to_broker[1, "controller"]
    asked = requests(API).named("asked").watch()
    held = responses(API).first().named("held").hold(at_most_ms=TIMEOUT_S * 1000)
    with opened(link) as connection, ruled(link, asked, held) as at_work:
        connection.send(ApiVersionsRequest(), 2)
        await_that(lambda: at_work.fired("held") == 1, "the answer is held")
        connection.expect_silence(for_ms=50)
        at_work.release("held")
        connection.receive()
        told = [(event.what, event.rule) for event in at_work.events if event.what != "armed"]
        assert told == [("fired", "asked"), ("fired", "held"), ("released", "held")]


def test_end_of_connection_is_reported_while_rules_are_armed(to_broker: Links[Proxy]) -> None:
    link = to_broker[1, "controller"]
    with ruled(link, requests(API).named("lost").close()) as at_work:
        with opened(link) as connection, pytest.raises(ConnectionClosed):
            connection.ask(ApiVersionsRequest(), 2)
        await_that(lambda: at_work.events[-1].what == "closed", "the connection is closed")
        ended = [event for event in at_work.events if event.what in ("fired", "closed")]
        assert [(event.what, event.connection) for event in ended] == [("fired", 0), ("closed", 0)]
    with opened(link) as connection:
        connection.ask(ApiVersionsRequest(), 2)
    assert [event.what for event in at_work.events][-1] == "disarmed"


def test_rule_on_zookeeper_link_raises_type_error(links: Links[Proxy]) -> None:
    with pytest.raises(TypeError, match="1->zookeeper carries no frames"):
        with ruled(links[1, "zookeeper"], requests(API).drop()):
            pass


def test_proxy_of_link_has_name_and_ends(links: Links[Proxy]) -> None:
    link = links["client", 1]
    assert link.call(lambda proxy: (proxy.name, proxy.link)) == ("client-to-1", "client->1")
    assert link.proxy.listen.port


def test_link_on_taken_port_raises_start_again(echo: Address) -> None:
    with RunningProxies() as net:
        with pytest.raises(StartAgain, match=r"1->2 at 127\.0\.0\.1:\d+: the port was taken"):
            open_links(net, [PlannedLink("1", "2", echo, echo)])


def test_unavailable_loopback_address_raises_target_error(
    monkeypatch: pytest.MonkeyPatch, echo: Address
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")

    monkeypatch.setattr(socket, "create_server", refuse)
    with RunningProxies() as net:
        with pytest.raises(TargetError, match="as it is on Linux"):
            open_links(net, [PlannedLink("1", "2", Address("127.1.1.1", 0), echo)])


def test_links_of_stopped_cluster_raise_target_error() -> None:
    with pytest.raises(TargetError, match="nodes=3 has links only while it runs"):
        _ = LinkedKafka("4.4.0").links

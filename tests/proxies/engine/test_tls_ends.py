"""TLS that ends at a proxy: plain bytes inside, TLS of ours outside, errors in words, bounds."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.proxies.event import Event
from harness.proxies.limits import ProxyLimits
from harness.proxies.rules import RuleDidNotFire, RuleSet, responses
from harness.proxies.step import Send
from harness.proxies.stream import Stream
from harness.proxies.tls_ends import TlsEnds
from harness.security.authority import Authority
from harness.security.contexts import listener_context
from tests.leftovers import open_sockets, running_threads
from tests.proxies.ends import read, read_to_end
from tests.proxies.engine.proxied import (
    Asking,
    Ends,
    answer,
    arrives,
    metadata,
    proxied,
    returns,
    until,
)
from tests.proxies.engine.test_tls import CLIENT_HELLO, texts

PIECE = bytes(range(256)) * 128  # 32 KiB
MANY = 1_000
HELD_BYTES = 1 << 20  # asyncio's high-water mark is 64 KiB, and one read brings up to 256 KiB


class Certificates:
    """Two authorities: that of the proxy, which clients trust, and that of the broker."""

    def __init__(self, folder: Path) -> None:
        self.proxies, self.brokers = Authority("of proxies"), Authority("of brokers")
        self.by_proxies = _trusting(self.proxies.write_pem(folder / "proxies.pem"))
        self.by_brokers = _trusting(self.brokers.write_pem(folder / "brokers.pem"))
        self.of_broker = _served(self.brokers)
        self.ends = TlsEnds(_served(self.proxies), self.by_brokers)


def _trusting(file: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(file))


def _served(authority: Authority) -> ssl.SSLContext:
    signed = authority.sign("a listener")
    return listener_context(signed.key_pem() + signed.certificate_pem)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@contextmanager
def ended(certificates: Certificates, **options: object) -> Iterator[Ends]:
    """One connection; both ends have shaken hands with the proxy."""
    receive_bytes = options.pop("receive_bytes", 0)
    assert isinstance(receive_bytes, int)
    with proxied(receive_bytes, tls=certificates.ends, **options) as ends:
        ends.client = certificates.by_proxies.wrap_socket(ends.client, server_hostname="127.0.0.1")
        ends.broker = certificates.of_broker.wrap_socket(ends.broker, server_side=True)
        try:
            yield ends
        finally:
            ends.client.close()
            ends.broker.close()


def test_frames_are_seen_and_changed(certificates: Certificates) -> None:
    asking = Asking(on_response=lambda _: [Send(answer(1, b"changed"))])
    with ended(certificates, interceptor=asking) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, metadata(1))
        ends.broker.sendall(answer(1, b"as it was"))
        returns(ends, answer(1, b"changed"))
    assert [seen.api.name for seen in asking.requests if seen.api] == ["Metadata"]


def test_requests_before_the_handshake_of_the_broker_wait_for_it(
    certificates: Certificates,
) -> None:
    with proxied(tls=certificates.ends) as ends:
        with certificates.by_proxies.wrap_socket(
            ends.client, server_hostname="127.0.0.1"
        ) as client:
            client.sendall(metadata(1) + metadata(2))
            with certificates.of_broker.wrap_socket(ends.broker, server_side=True) as broker:
                ends.broker = broker
                arrives(ends, metadata(1), metadata(2))


@pytest.mark.parametrize("first", ["client", "broker"])
def test_the_end_of_one_direction_leaves_the_other(certificates: Certificates, first: str) -> None:
    with ended(certificates) as ends:
        sides = (ends.client, ends.broker) if first == "client" else (ends.broker, ends.client)
        sides[0].sendall(b"last words")
        socket.socket.shutdown(sides[0], socket.SHUT_WR)
        assert read_to_end(sides[1]) == b"last words"
        sides[1].sendall(PIECE)
        assert read(sides[0], len(PIECE)) == PIECE


def test_a_client_without_the_authority_is_named(certificates: Certificates) -> None:
    events: list[Event] = []
    with proxied(tls=certificates.ends, tell=events.append) as ends:
        with pytest.raises(ssl.SSLCertVerificationError):
            certificates.by_brokers.wrap_socket(ends.client, server_hostname="127.0.0.1")
        until(lambda: bool(texts(events)), "the refusal is reported")
    assert "between the proxy and the client failed: TLSV1_ALERT_UNKNOWN_CA" in texts(events)[0]
    assert "the authority of the proxy in its truststore" in texts(events)[0]


def test_a_client_without_tls_is_named_and_reaches_no_broker(certificates: Certificates) -> None:
    events: list[Event] = []
    with proxied(tls=certificates.ends, tell=events.append) as ends:
        ends.client.sendall(metadata(1))
        assert metadata(1) not in read_to_end(ends.client)
        until(lambda: bool(texts(events)), "it is reported")
        assert ends.net.call(lambda: ends.proxy.counters.upstream.bytes) == 0
    assert "security.protocol must be SSL or SASL_SSL" in texts(events)[0]


def test_a_broker_that_is_not_trusted_gets_no_request(certificates: Certificates) -> None:
    events: list[Event] = []
    with proxied(tls=certificates.ends, tell=events.append) as ends:
        with certificates.by_proxies.wrap_socket(
            ends.client, server_hostname="127.0.0.1"
        ) as client:
            with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
                _served(Authority("another")).wrap_socket(ends.broker, server_side=True)
            assert read_to_end(client) == b""
        until(lambda: bool(texts(events)), "it is reported")
    assert "the proxy and the broker failed: CERTIFICATE_VERIFY_FAILED" in texts(events)[0]


@pytest.mark.parametrize("reads", [True, False], ids=["closes", "resets"])
def test_a_plaintext_broker_is_named(certificates: Certificates, reads: bool) -> None:
    events: list[Event] = []
    with proxied(tls=certificates.ends, tell=events.append) as ends:
        ends.broker.recv(65536 if reads else 1)  # bytes that stay unread make the close a reset
        ends.broker.close()
        until(lambda: bool(texts(events)), "it is reported")
    assert texts(events) == ["the broker ended the connection in the TLS handshake with the proxy"]


@pytest.mark.parametrize("side", ["client", "broker"])
def test_a_handshake_that_stands_still_is_ended(certificates: Certificates, side: str) -> None:
    events: list[Event] = []
    limits = ProxyLimits(connect_ms=200)
    with proxied(tls=certificates.ends, tell=events.append, limits=limits) as ends:
        if side == "client":
            ends.client.sendall(CLIENT_HELLO[:7])
        until(lambda: not ends.net.call(lambda: ends.proxy.connections), "it is ended")
    text = f"the {side} does not finish the TLS handshake with the proxy"
    assert text in texts(events)


@pytest.mark.parametrize("reader", ["client", "broker"])
def test_a_side_that_does_not_read_stops_the_other(certificates: Certificates, reader: str) -> None:
    with ended(certificates, receive_bytes=64 * 1024) as ends:
        slow, writer = (
            (ends.client, ends.broker) if reader == "client" else (ends.broker, ends.client)
        )
        sent = [0]

        def send() -> None:
            for _ in range(MANY):
                writer.sendall(PIECE)
                sent[0] += 1
            socket.socket.shutdown(writer, socket.SHUT_WR)

        thread = threading.Thread(target=send)
        thread.start()
        most = _most_held(ends, "downstream" if reader == "client" else "upstream", writer)
        assert sent[0] < MANY, "everything went through without a reader: nothing was measured"
        assert most <= HELD_BYTES
        assert read_to_end(slow) == PIECE * MANY
        thread.join()


def _most_held(ends: Ends, direction: str, writer: socket.socket) -> int:
    """Wait until the proxy has stopped reading and the writer has no room; return what it held."""
    [connection] = ends.proxy.connections
    stream: Stream = getattr(connection, direction)
    held = [0]

    def stands() -> bool:
        held.append(ends.held_bytes())
        is_slow = ends.net.call(lambda: stream.receiver_is_slow)
        return is_slow and not select.select([], [writer], [], 0)[1]

    until(stands, "the proxy stops reading and the writer has no room")
    return max(held)


def test_a_stop_under_traffic_is_bounded_and_leaves_nothing(certificates: Certificates) -> None:
    threads, sockets = running_threads(), open_sockets()
    with ended(certificates, interceptor=Asking(), receive_bytes=64 * 1024) as ends:
        further = [ends.another() for _ in range(8)]  # which never shake hands
        ends.client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            ends.client.sendall(metadata(1) * 1_000_000)
        ends.net.stop()  # which raises an error when it takes too long
        assert (ends.proxy.connections, ends.proxy.pending_tasks) == ([], 0)
        for pair in further:
            for one in pair:
                one.close()
    assert running_threads() <= threads
    assert open_sockets() <= sockets


def test_rules_on_tls_that_passes_are_an_error_with_the_remedy() -> None:
    events: list[Event] = []
    rules = RuleSet(responses("Metadata").drop(), now_ms=lambda: 0.0)
    with proxied(interceptor=rules, tell=events.append) as ends:
        ends.client.sendall(CLIENT_HELLO)
        arrives(ends, CLIENT_HELLO)
        until(lambda: any(one.what == "error" for one in events), "it is reported")
        with pytest.raises(RuleDidNotFire, match=r"--end-tls.*; connections: 1"):
            rules.expect_fired()
    (error,) = [one.detail["error"] for one in events if one.what == "error"]
    assert error.startswith("RulesSeeNothing: the client speaks TLS, which passes as bytes")


def test_tls_that_passes_without_rules_is_no_error() -> None:
    events: list[Event] = []
    with proxied(interceptor=RuleSet(now_ms=lambda: 0.0), tell=events.append) as ends:
        ends.client.sendall(CLIENT_HELLO)
        arrives(ends, CLIENT_HELLO)
        assert [one.what for one in events] == ["tls"]  # further ones may come when it is closed

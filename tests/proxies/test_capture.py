"""The traffic of a proxy is written as a capture that our reader and tshark can read."""

from __future__ import annotations

import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.capture.capture_file import CaptureFile
from harness.capture.events import REQUEST, Captured
from harness.capture.segment import FIN, RST, TcpSegment
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest
from harness.proxies.addresses import AddressBook, AddressRewriter
from harness.proxies.capture import Capture, Sides
from harness.proxies.event import Event
from harness.proxies.proxy import Proxy
from harness.proxies.rules import RuleSet, responses
from harness.proxies.running import RunningProxies
from harness.targets.ports import free_ports
from labs.captures.recorded import follow, messages
from labs.hang_limit import HANGS_AFTER_S
from tests.capture.tshark import dissect, installed_version
from tests.proxies.ends import read, read_to_end
from tests.proxies.recorder import recorder
from tests.reference_broker import test_clients as clients
from tests.reference_broker.running import create_topic, running_broker
from tests.targets.kinds import not_run

ADVERTISED = ("broker-1.invalid", 9999)  # RFC 6761: no such name is ever resolved
REQUEST_BYTES = frame(encode_request(MetadataRequest(), 1, 1))
TOPIC = "captured"
UNREAD = 1
"""A client that closes may leave a request or an answer on its way, which does not pass then: on a
busy machine the only request of a connection.
"""
Bytes = tuple[bytes, bytes]


@dataclass
class Conversation:
    """``broker_saw``: port of the proxy's socket -> requests and responses, with their lengths.

    Only connections with traffic: a client may connect and go without a request.
    """

    capture: Path
    proxy: Address
    upstream: Address
    broker_saw: dict[int, Bytes]


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    """A producer and a consumer that reach the broker through a proxy alone."""
    file = tmp_path_factory.mktemp("capture") / "both.pcap"
    (port,) = free_ports(1)
    settings = {"advertised.listeners": "PLAINTEXT://{}:{}".format(*ADVERTISED)}
    rewriter = AddressRewriter(AddressBook())
    with running_broker(settings, port), recorder(("127.0.0.1", port)) as between:
        with Capture(file) as capture, RunningProxies() as net:
            proxy = Proxy("p", between.address, rewriter=rewriter, tap=capture)
            address = net.add(proxy)
            rewriter.book.add("client", ADVERTISED, address)
            create_topic(address, TOPIC)
            socket.create_connection(address, 10).close()
            clients.confluent_produce(address, TOPIC, "lz4")
            assert len(clients.confluent_consume(address, TOPIC)) == clients.RECORDS
        saw = {
            name[1]: (bytes(up), bytes(down))
            for name, (up, down) in between.seen.items()
            if up or down
        }
        yield Conversation(file, address, Address(*between.address), saw)


def by_client_port(events: list[Captured]) -> dict[int, Bytes]:
    """The bytes that each connection sent, by the events."""
    found: dict[int, list[bytes]] = {}
    for event in events:
        both = found.setdefault(event.connection.client.port, [b"", b""])
        both[event.direction != REQUEST] += frame(event.payload)
    return {port: (both[0], both[1]) for port, both in found.items()}


def test_own_reader_finds_broker_traffic_in_capture(conversation: Conversation) -> None:
    events, follower = follow(tuple(CaptureFile(str(conversation.capture))))
    found = messages(events)
    upstream = [e for e in found if e.connection.server.port == conversation.upstream.port]
    captured = by_client_port(upstream)
    assert captured.keys() >= conversation.broker_saw.keys()
    unread = len(captured) - len(conversation.broker_saw)
    for port, (requests, answers) in conversation.broker_saw.items():
        assert captured[port][0] == requests
        assert answers.startswith(captured[port][1])
        unread += captured[port][1] != answers
    assert unread <= UNREAD
    assert {"Produce", "Fetch", "Metadata"} <= {e.api.name for e in upstream if e.api}
    on_the_side_of_the_client = len(found) - len(upstream)
    assert abs(len(upstream) - on_the_side_of_the_client) <= UNREAD
    totals = follower.totals
    assert (totals.lost_bytes, totals.skipped_bytes, totals.undecodable) == (0, 0, 0)
    assert totals.connections >= 2 * len(conversation.broker_saw)  # some clients send nothing
    with_traffic = {e.connection.client.port for e in found} - captured.keys()
    assert abs(len(with_traffic) - len(conversation.broker_saw)) <= UNREAD


def test_captured_client_side_metadata_contains_proxy_address(conversation: Conversation) -> None:
    events, _ = follow(tuple(CaptureFile(str(conversation.capture))), conversation.proxy.port)
    found = [e for e in messages(events) if e.direction != REQUEST and e.api]
    told = [e.payload for e in found if e.api and e.api.name == "Metadata"]
    assert told
    for payload in told:
        assert ADVERTISED[0].encode() not in payload
        assert struct.pack(">i", conversation.proxy.port) in payload


def frames_of(data: bytes, correlation_id_at: int) -> list[tuple[int, int]]:
    """Length and correlation id of each frame."""
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from(">i", data, at)
        found.append((length, *struct.unpack_from(">i", data, at + 4 + correlation_id_at)))
        at += 4 + length
    return found


@pytest.mark.rotates(8)
def test_tshark_reads_broker_frames_from_capture(conversation: Conversation) -> None:
    if installed_version() is None:
        not_run("tshark is not installed (apt-get install tshark)")
    upstream = conversation.upstream.port
    theirs: dict[tuple[int, int], list[tuple[int, int | None]]] = {}
    for one in dissect(conversation.capture, upstream):
        if upstream in one.ports:
            theirs.setdefault(one.ports, []).append((one.length, one.correlation_id))
    expected: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for port, (requests, answers) in conversation.broker_saw.items():
        expected[port, upstream] = frames_of(requests, 4)
        expected[upstream, port] = frames_of(answers, 0)
    unread = sum(len(theirs[ports]) for ports in theirs.keys() - expected.keys())
    for ports, frames in expected.items():
        found = theirs.get(ports, [])
        assert found == frames[: len(found)]
        unread += len(frames) - len(found)
    assert unread <= UNREAD


def segments_of(file: Path, port: int) -> list[TcpSegment]:
    return [s for s in CaptureFile(str(file)) if port in (s.source.port, s.destination.port)]


def sent(segments: list[TcpSegment], *, to: int) -> bytes:
    return b"".join(s.payload for s in segments if s.destination.port == to)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(HANGS_AFTER_S)
        yield made


def exchange(listener: socket.socket, proxy: Proxy) -> tuple[socket.socket, socket.socket]:
    """Connect through a proxy: (the client's end, the broker's)."""
    client = socket.create_connection(proxy.listen, 10)
    broker, _ = listener.accept()
    broker.settimeout(HANGS_AFTER_S)
    return client, broker


def test_dropped_response_is_captured_on_broker_side_only(
    tmp_path: Path, listener: socket.socket
) -> None:
    """A dropped response is in the capture of the broker's side only."""
    file = tmp_path / "fault.pcap"
    rules = RuleSet(responses("Metadata").first().drop(), now_ms=lambda: 0.0)
    with Capture(file) as capture, RunningProxies() as net:
        proxy = Proxy("p", listener.getsockname(), interceptor=rules, tap=capture)
        net.add(proxy)
        client, broker = exchange(listener, proxy)
        with client, broker:
            for answer in (b"\0\0\0\1lost", b"\0\0\0\1kept"):
                client.sendall(REQUEST_BYTES)
                assert read(broker, len(REQUEST_BYTES)) == REQUEST_BYTES
                broker.sendall(frame(answer))
            assert read(client, 12) == frame(b"\0\0\0\1kept")
            client.shutdown(socket.SHUT_WR)
            assert read_to_end(broker) == b""
            broker.close()
            assert read_to_end(client) == b""
    client_port, upstream = proxy.listen.port, listener.getsockname()[1]
    outside, inside = segments_of(file, client_port), segments_of(file, upstream)
    assert sent(outside, to=client_port) == sent(inside, to=upstream) == REQUEST_BYTES * 2
    got = b"".join(s.payload for s in outside if s.source.port == client_port)
    was_sent = b"".join(s.payload for s in inside if s.source.port == upstream)
    assert got == frame(b"\0\0\0\1kept")
    assert was_sent == frame(b"\0\0\0\1lost") + got
    for segments in (outside, inside):
        assert sum(bool(s.flags & FIN) for s in segments) == 2
        assert not any(s.flags & RST for s in segments)


@pytest.mark.rotates(8)
def test_pcapng_capture_has_interface_name_of_each_link(
    tmp_path: Path, listener: socket.socket
) -> None:
    file = tmp_path / "named.pcapng"
    upstream = listener.getsockname()
    with Capture(file) as capture, RunningProxies() as net:
        proxies = [Proxy(n, upstream, source=n, destination="1", tap=capture) for n in ("2", "3")]
        for proxy in proxies:
            net.add(proxy)
            client, broker = exchange(listener, proxy)
            with client, broker:
                for _ in range(2):
                    client.sendall(REQUEST_BYTES)
                    assert read(broker, len(REQUEST_BYTES)) == REQUEST_BYTES
    found = [(s.interface, s.payload) for s in CaptureFile(str(file)) if s.payload]
    assert found == [(link, REQUEST_BYTES) for link in ("2->1", "3->1") for _ in range(4)]
    events, _ = follow(tuple(CaptureFile(str(file))))
    named = [event.connection.interface for event in messages(events)]
    assert named == ["2->1"] * 4 + ["3->1"] * 4
    if installed_version() is None:
        not_run("tshark is not installed (apt-get install tshark)")
    command = ["tshark", "-n", "-r", str(file), "-T", "fields", "-e", "frame.interface_name"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert set(said.stdout.split()) == {"2->1", "3->1"}
    assert capture.written_bytes == file.stat().st_size


@pytest.mark.parametrize("by", ["broker", "proxy"])
def test_reset_by_broker_or_proxy_is_captured_as_rst(
    tmp_path: Path, listener: socket.socket, by: str
) -> None:
    file = tmp_path / "reset.pcap"
    with Capture(file) as capture, RunningProxies() as net:
        proxy = Proxy("p", listener.getsockname(), tap=capture)
        net.add(proxy)
        client, broker = exchange(listener, proxy)
        with client, broker:
            client.sendall(b"x")
            assert read(broker, 1) == b"x"
            if by == "proxy":
                net.call(proxy.reset_connections)
                with pytest.raises(ConnectionResetError):
                    client.recv(1)
            else:
                broker.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                broker.close()
                assert client.recv(1) == b""
    upstream = listener.getsockname()[1]
    resets = [s.source.port for s in CaptureFile(str(file)) if s.flags & RST]
    inside = [port for port in resets if port == upstream]
    assert bool(inside) == (by == "broker")
    assert len(resets) == (1 if by == "broker" else 2)


@pytest.mark.parametrize("sides", [Sides.CLIENT, Sides.BROKER])
def test_capture_of_one_side_contains_that_side_only(
    tmp_path: Path, listener: socket.socket, sides: Sides
) -> None:
    file = tmp_path / "one.pcap"
    with Capture(file, sides=sides) as capture, RunningProxies() as net:
        proxy = Proxy("p", listener.getsockname(), tap=capture)
        net.add(proxy)
        client, broker = exchange(listener, proxy)
        with client, broker:
            client.sendall(b"seen")
            assert read(broker, 4) == b"seen"
    there = proxy.listen.port if sides is Sides.CLIENT else listener.getsockname()[1]
    segments = list(CaptureFile(str(file)))
    assert {port for s in segments for port in (s.source.port, s.destination.port)} >= {there}
    assert all(there in (s.source.port, s.destination.port) for s in segments)
    assert sent(segments, to=there) == b"seen"


def test_capture_ends_at_size_limit_and_traffic_continues(
    tmp_path: Path, listener: socket.socket
) -> None:
    file, events, limit_bytes = tmp_path / "full.pcap", list[Event](), 5_000
    with Capture(file, limit_bytes=limit_bytes, tell=events.append) as capture:
        with RunningProxies() as net:
            proxy = Proxy("p", listener.getsockname(), tap=capture)
            net.add(proxy)
            client, broker = exchange(listener, proxy)
            with client, broker:
                for _ in range(10):
                    client.sendall(b"x" * 1000)
                    assert read(broker, 1000) == b"x" * 1000
        assert capture.is_over
    assert [event.what for event in events] == ["capture_ended"]
    assert events[0].detail["why"] == "it would grow above 5000 bytes"
    assert file.stat().st_size == capture.written_bytes <= limit_bytes
    whole = sent(list(CaptureFile(str(file))), to=listener.getsockname()[1])
    assert set(whole) == {ord("x")}


def test_capture_ends_on_full_disk_and_traffic_continues(listener: socket.socket) -> None:
    events = list[Event]()
    with Capture(Path("/dev/full"), tell=events.append) as capture, RunningProxies() as net:
        proxy = Proxy("p", listener.getsockname(), tap=capture)
        net.add(proxy)
        client, broker = exchange(listener, proxy)
        with client, broker:
            client.sendall(b"x" * 1000)
            assert read(broker, 1000) == b"x" * 1000
            net.call(capture.flush)
            client.sendall(b"y")
            assert read(broker, 1) == b"y"
    assert [event.detail["why"] for event in events] == ["No space left on device"]


def test_proxy_without_capture_has_no_protocol_wrapper(listener: socket.socket) -> None:
    with RunningProxies() as net:
        proxy = Proxy("p", listener.getsockname())
        net.add(proxy)
        client, broker = exchange(listener, proxy)
        with client, broker:
            client.sendall(b"x")
            assert read(broker, 1) == b"x"
            (connection,) = net.call(lambda: proxy.connections)
            for side in (connection.client, connection.broker):
                assert side.transport is not None
                assert side.transport.get_protocol() is side

"""A relay stays small before a peer that does not read, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import warnings

import pytest

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest
from harness.proxies import FrameRule, Relay, RunningRelay
from harness.proxies.limits import LIMITS
from labs.hang_limit import HANGS_AFTER_S
from tests.leftovers import open_sockets, running_threads
from tests.proxies.ends import Ends, in_background, read, read_to_end, relayed

pytestmark = pytest.mark.rotates(8)

FRAME = frame(bytes(32 * 1024))
MANY = 2_000  # 64 MB in all
HELD_BYTES = 1 << 20  # asyncio's high-water mark is 64 KiB, and one read brings up to 256 KiB


def held_bytes(ends: Ends) -> int:
    """The bytes that the relay holds for this link: unsent bytes and unfinished frames."""
    (connection,) = ends.running.relay.connections
    return connection.held_bytes


@pytest.mark.parametrize("reader", ["client", "broker"])
def test_peer_that_does_not_read_stops_writer(reader: str) -> None:
    with relayed(receive_bytes=64 * 1024) as ends:
        slow, writer = (
            (ends.client, ends.broker) if reader == "client" else (ends.broker, ends.client)
        )
        sent = [0]

        def send() -> None:
            for _ in range(MANY):
                writer.sendall(FRAME)
                sent[0] += 1
            writer.shutdown(socket.SHUT_WR)

        writer.settimeout(HANGS_AFTER_S)
        thread = threading.Thread(target=send)
        thread.start()
        most = _until_it_stands_still(ends, sent)
        assert sent[0] < MANY, "everything went through without a reader: nothing was measured"
        assert most <= HELD_BYTES
        assert read_to_end(slow) == FRAME * MANY
        thread.join()


def _until_it_stands_still(ends: Ends, sent: list[int]) -> int:
    """Wait until the writer has not moved for a while; return the most that the relay held."""
    most, moved_at, last = 0, time.monotonic(), -1
    while time.monotonic() - moved_at < 0.5:
        if sent[0] != last:
            last, moved_at = sent[0], time.monotonic()
        most = max(most, held_bytes(ends))
        time.sleep(0.005)
    return most


def test_slow_reader_receives_all_bytes_in_order() -> None:
    pieces = [frame(bytes([number % 256]) * 3000) for number in range(800)]
    with relayed(receive_bytes=8 * 1024) as ends:
        sender = in_background(ends.client, pieces, end=True)
        got = b"".join(read(ends.broker, 3004) for _ in pieces)
        assert got == b"".join(pieces)
        assert read_to_end(ends.broker) == b""
        sender.join()


def test_length_above_limit_is_forwarded_immediately() -> None:
    with relayed() as ends:
        ends.client.sendall((LIMITS.request_bytes + 1).to_bytes(4, "big") + b"passed on at once")
        assert (
            read(ends.broker, 21)
            == (LIMITS.request_bytes + 1).to_bytes(4, "big") + b"passed on at once"
        )


# -- stopping ------------------------------------------------------------------------------------


def half_frame(ends: Ends) -> None:
    ends.client.sendall(FRAME[:100])


def answer_open(ends: Ends) -> None:
    request = frame(encode_request(MetadataRequest(), 1, 1))
    ends.client.sendall(request)
    read(ends.broker, len(request))


def half_closed(ends: Ends) -> None:
    ends.client.shutdown(socket.SHUT_WR)
    read_to_end(ends.broker)


def full_buffers(ends: Ends) -> None:
    ends.client.settimeout(0.2)
    with pytest.raises(TimeoutError):
        ends.client.sendall(FRAME * MANY)


def nothing(ends: Ends) -> None:
    assert ends.running.relay.connections


@pytest.mark.parametrize("state", [nothing, half_frame, answer_open, half_closed, full_buffers])
def test_stop_leaves_no_task_thread_or_socket(state: object) -> None:
    assert callable(state)
    threads, sockets = running_threads(), open_sockets()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with relayed(receive_bytes=64 * 1024) as ends:
            state(ends)
            relay, loop = ends.running.relay, ends.running.proxies._loop
        assert open_sockets() <= sockets
    assert (relay.connections, relay.proxy.pending_tasks) == ([], 0)
    assert loop.is_closed()
    assert running_threads() <= threads
    assert [str(one.message) for one in warned if one.category is ResourceWarning] == []


def test_stop_during_connects_leaves_no_thread_or_socket() -> None:
    threads, sockets = running_threads(), open_sockets()
    for _ in range(10):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            with RunningRelay(listener.getsockname()) as running:
                clients = [socket.create_connection(running.address, 10) for _ in range(20)]
            for client in clients:
                client.close()
    assert open_sockets() <= sockets
    assert running_threads() <= threads


def test_relay_on_taken_port_leaves_no_task_or_socket() -> None:
    async def start_twice() -> None:
        relay, second = Relay(("127.0.0.1", 1)), Relay(("127.0.0.1", 1))
        _, port = await relay.start()
        with pytest.raises(OSError, match="Address already in use"):
            await second.start(port)
        await second.stop()
        await relay.stop()
        assert len(asyncio.all_tasks()) == 1

    sockets = open_sockets()
    asyncio.run(start_twice())
    assert open_sockets() <= sockets


def test_relay_that_fails_to_start_ends_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(relay: Relay, port: int = 0) -> tuple[str, int]:
        raise OSError("no sockets today")

    monkeypatch.setattr(Relay, "start", refuse)
    threads = running_threads()
    with pytest.raises(OSError, match="no sockets today"), RunningRelay(("127.0.0.1", 1)):
        pass
    assert running_threads() <= threads


def test_simultaneous_connections_receive_only_their_own_bytes() -> None:
    rule = FrameRule()
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        listener.settimeout(HANGS_AFTER_S)
        with RunningRelay(listener.getsockname(), rule) as running:
            clients = [socket.create_connection(running.address, 10) for _ in range(30)]
            for number, client in enumerate(clients):
                client.sendall(frame(bytes([number])))
            brokers = [listener.accept()[0] for _ in clients]
            for broker in brokers:
                broker.settimeout(HANGS_AFTER_S)
                broker.sendall(read(broker, 5))
            assert [read(client, 5) for client in clients] == [
                frame(bytes([number])) for number in range(30)
            ]
            for one in (*clients, *brokers):
                one.close()

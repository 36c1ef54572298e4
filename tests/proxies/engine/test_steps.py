"""What steps do, each kind; and what is done to a whole link."""

from __future__ import annotations

import errno
import gc
import socket
import struct
import time
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from harness.proxies.direction import Direction
from harness.proxies.event import Event
from harness.proxies.limits import Limits
from harness.proxies.seen import SeenRequest, SeenResponse
from harness.proxies.step import (
    Aside,
    Close,
    End,
    Gate,
    Hold,
    Reset,
    Send,
    SendBack,
    Step,
    Wait,
)
from harness.proxies.toxics.black_hole import BlackHole
from harness.proxies.toxics.chain import PIECE_COST_BYTES
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.timeout import Timeout
from tests.proxies.ends import read, read_to_end
from tests.proxies.engine.proxied import (
    Asking,
    Ends,
    answer,
    fetch,
    is_silent,
    metadata,
    proxied,
    until,
)

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


def nth(*steps: Sequence[Step] | None) -> Asking:
    """An interceptor that answers the nth request with the nth list, later ones with None."""
    asking = Asking()
    asking.on_request = lambda seen: dict(enumerate(steps)).get(seen.ordinal)
    return asking


def arrives(ends: Ends, *frames: bytes) -> None:
    whole = b"".join(frames)
    assert read(ends.broker, len(whole)) == whole


def returns(ends: Ends, *frames: bytes) -> None:
    whole = b"".join(frames)
    assert read(ends.client, len(whole)) == whole


def is_reset(sock: socket.socket) -> bool:
    """Whether it ended by RST, whatever came before."""
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError as error:
        return error.errno == errno.ECONNRESET
    return False


def test_send_in_a_frames_place_and_twice() -> None:
    asking = nth([Send(fetch(7)), Send(fetch(8))])
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, fetch(7), fetch(8), metadata(2))
        ends.broker.sendall(answer(7) + answer(8) + answer(2))
        returns(ends, answer(7), answer(8), answer(2))
        assert [seen.request.ordinal for seen in asking.responses] == [0, 0, 1]
        assert ends.proxy.counters.mismatched == 0


def test_nothing_in_a_frames_place() -> None:
    with proxied(interceptor=nth([])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(2))


def test_requests_that_change_places_keep_their_answers() -> None:
    held: list[SeenRequest] = []

    def later(seen: SeenRequest) -> list[Step] | None:
        if seen.ordinal == 0:
            held.append(seen)
            return []
        return [Send(metadata(2)), Send(metadata(1))]

    asking = Asking(on_request=later)
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(2), metadata(1))
        ends.broker.sendall(answer(2) + answer(1))
        returns(ends, answer(2), answer(1))
        assert [seen.request.ordinal for seen in asking.responses] == [1, 0]
        assert asking.responses[1].request is held[0]


def test_an_answer_in_the_brokers_place_waits_for_those_before_it() -> None:
    with proxied(interceptor=nth(None, [SendBack(answer(2, b"mine"))])) as ends:
        ends.client.sendall(metadata(1) + metadata(2) + metadata(3))
        arrives(ends, metadata(1), metadata(3))
        assert is_silent(ends.client)
        ends.broker.sendall(answer(1) + answer(3))
        returns(ends, answer(1), answer(2, b"mine"), answer(3))


def test_an_answer_at_once_waits_for_no_other_but_never_splits_a_frame() -> None:
    asking = Asking(directions=(UP,))
    asking.on_request = lambda seen: (
        [SendBack(b"now", in_turn=False)] if seen.ordinal == 1 else None
    )
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, metadata(1))
        whole = answer(1, bytes(50))
        ends.broker.sendall(whole[:20])
        returns(ends, whole[:20])
        ends.client.sendall(metadata(2))
        until(lambda: len(asking.requests) == 2, "the second request is seen")
        assert is_silent(ends.client)
        ends.broker.sendall(whole[20:])
        returns(ends, whole[20:], b"now")


def test_wait_keeps_back_what_is_behind_it() -> None:
    with proxied(interceptor=nth([Wait(150), Send(metadata(1))])) as ends:
        began = time.monotonic()
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(1), metadata(2))
        assert time.monotonic() - began >= 0.14


def test_waits_from_arrival_do_not_add_up() -> None:
    asking = Asking(on_request=lambda seen: [Wait(200, from_arrival=True), Send(metadata(1))])
    with proxied(interceptor=asking) as ends:
        began = time.monotonic()
        ends.client.sendall(metadata(1) * 20)
        arrives(ends, metadata(1) * 20)
        assert 0.19 <= time.monotonic() - began < 2


def test_hold_until_a_gate_opens() -> None:
    gate = Gate()
    with proxied(interceptor=nth([Hold(gate), Send(metadata(1))])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        assert is_silent(ends.broker)
        ends.net.call(gate.open)
        arrives(ends, metadata(1), metadata(2))


def test_hold_ends_by_itself() -> None:
    with proxied(interceptor=nth([Hold(Gate(), at_most_ms=50), Send(metadata(1))])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(1), metadata(2))


def test_while_something_is_held_no_more_is_read_than_allowed() -> None:
    limits = Limits(held_bytes=50_000)
    gate = Gate()
    with proxied(interceptor=nth([Hold(gate)]), limits=limits) as ends:
        ends.client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            ends.client.sendall(metadata(1) * 1_000_000)
        most_read = 2 * 256 * 1024
        cost = most_read + PIECE_COST_BYTES * most_read // len(metadata(1))
        assert 0 < ends.held_bytes() <= 50_000 + cost
        ends.net.call(gate.open)
        arrives(ends, metadata(1) * 1000)


def test_a_lost_connection_is_not_kept_by_a_gate() -> None:
    gate, asking = Gate(), nth()
    asking.on_request = lambda seen: [Hold(gate), Send(metadata(1))]
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1))
        until(lambda: bool(gate._waiting), "it waits")
        ends.net.call(ends.proxy.reset_connections)
        until(lambda: not ends.proxy.connections, "it is gone")
        assert gate._waiting == []
        assert len(asking.closed_places) == 1


@pytest.mark.parametrize("how", ["gate", "time", "end"])
def test_what_stands_aside_is_overtaken(how: str) -> None:
    gate = Gate()
    at_most_ms = 150.0 if how == "time" else float("inf")
    aside = Aside(gate, at_most_ms, lambda: [Send(metadata(1))], held_bytes=10)
    asking = nth([aside])
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(2))
        if how == "gate":
            ends.net.call(gate.open)
        elif how == "end":
            ends.client.shutdown(socket.SHUT_WR)
        arrives(ends, metadata(1))
        assert ends.held_bytes() == 0
        ends.broker.sendall(answer(2) + answer(1))
        returns(ends, answer(2), answer(1))
        assert [seen.request.ordinal for seen in asking.responses] == [1, 0]


def test_end_is_an_end_in_one_direction() -> None:
    with proxied(interceptor=nth([Send(metadata(1)), End()])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        assert read_to_end(ends.broker) == metadata(1)
        ends.broker.sendall(answer(1))
        returns(ends, answer(1))
        ends.broker.shutdown(socket.SHUT_WR)
        assert read_to_end(ends.client) == b""


def test_close_is_a_clean_end_even_when_more_was_sent() -> None:
    steps: list[Step] = [SendBack(answer(1, bytes(300_000))), Close()]
    with proxied(interceptor=nth(steps)) as ends:
        ends.client.sendall(metadata(1) + metadata(2) * 1000)
        assert read_to_end(ends.client) == answer(1, bytes(300_000))
        assert read_to_end(ends.broker) == b""


def test_reset_is_seen_as_a_reset_on_both_sides_behind_what_was_sent() -> None:
    with proxied(interceptor=nth([Send(metadata(1)), Reset()])) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, metadata(1))
        assert is_reset(ends.broker)
        assert is_reset(ends.client)
        until(lambda: not ends.proxy.connections, "the connection is gone")


@pytest.mark.parametrize("where", list(Direction))
@pytest.mark.parametrize("side", list(Direction))
def test_reset_of_one_side_leaves_the_other_open(side: Direction, where: Direction) -> None:
    """Whatever frame it is done for; what the other sends leads nowhere."""
    steps: list[Step] = [Reset(side)]
    asking = Asking()
    if where is UP:
        asking.on_request = lambda _: steps
    else:
        asking.on_response = lambda _: steps
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1))
        if where is DOWN:
            arrives(ends, metadata(1))
            ends.broker.sendall(answer(1))
        gone, left = (ends.broker, ends.client) if side is UP else (ends.client, ends.broker)
        assert is_reset(gone)
        assert is_silent(left)
        left.sendall(metadata(2))
        assert is_silent(left)
        left.shutdown(socket.SHUT_WR)
        assert read_to_end(left) == b""
        until(lambda: not ends.proxy.connections, "the connection is gone")


def test_steps_of_an_answer() -> None:
    def twice(seen: SeenResponse) -> list[Step]:
        return [Send(answer(1, seen.payload[4:])), Wait(20), Send(answer(1, b"again"))]

    with proxied(interceptor=Asking(on_response=twice)) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, metadata(1))
        ends.broker.sendall(answer(1, b"once"))
        returns(ends, answer(1, b"once"), answer(1, b"again"))


def test_steps_before_the_first_byte() -> None:
    asking = Asking(on_open=lambda place: [Wait(50), Send(fetch(0))])
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, fetch(0), metadata(1))


def test_what_is_no_step_is_told_and_changes_nothing() -> None:
    events: list[Event] = []
    wrong: list[Any] = [["no step"], [Send("text")]]  # type: ignore[arg-type]
    asking = Asking(on_request=lambda seen: wrong[seen.ordinal])
    with proxied(interceptor=asking, tell=events.append) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(1), metadata(2))
        assert [type(error) for error in ends.proxy.errors] == [TypeError, TypeError]
        assert [event.what for event in events] == ["error", "error"]


# -- a whole link ----------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", [None, *Direction])
def test_a_cut_loses_nothing(direction: Direction | None) -> None:
    with proxied() as ends:
        ends.client.sendall(b"one")
        assert read(ends.broker, 3) == b"one"
        ends.net.call(ends.proxy.cut, direction)
        ends.client.sendall(b"two")
        ends.broker.sendall(b"back")
        ends.client.shutdown(socket.SHUT_WR)
        for sock, way, data in ((ends.broker, UP, b"two"), (ends.client, DOWN, b"back")):
            if direction in (None, way):
                assert is_silent(sock)
            else:
                assert read(sock, len(data)) == data
        ends.net.call(ends.proxy.heal)
        if direction in (None, UP):
            assert read_to_end(ends.broker) == b"two"
        if direction in (None, DOWN):
            assert read(ends.client, 4) == b"back"


def test_a_new_connection_over_a_cut_link_is_silent_until_it_is_healed() -> None:
    with proxied() as ends:
        ends.net.call(ends.proxy.cut)
        with socket.create_connection(ends.proxy.listen, 10) as client:
            client.sendall(b"hello")
            assert is_silent(client)
            ends.net.call(ends.proxy.heal)
            broker = ends.listener.accept()[0]
            with broker:
                broker.settimeout(10)
                assert read(broker, 5) == b"hello"


def test_what_a_toxic_holds_survives_a_cut() -> None:
    with proxied() as ends:
        ends.net.call(ends.proxy.toxics.add, Latency(latency=100), UP)
        ends.client.sendall(b"late")
        ends.net.call(ends.proxy.cut)
        assert is_silent(ends.broker, 0.25)
        ends.net.call(ends.proxy.heal)
        assert read(ends.broker, 4) == b"late"


def test_disabled_refuses_and_enabled_is_at_the_same_port() -> None:
    with proxied() as ends:
        address = ends.proxy.listen
        ends.net.wait_for(ends.proxy.disable())
        assert not ends.proxy.enabled
        assert read_to_end(ends.client) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, 10)
        ends.net.wait_for(ends.proxy.enable())
        assert ends.proxy.listen == address
        client, broker = ends.another()
        with client, broker:
            client.sendall(b"again")
            assert read(broker, 5) == b"again"


def test_all_connections_are_reset() -> None:
    with proxied() as ends:
        client, broker = ends.another()
        with client, broker:
            ends.net.call(ends.proxy.reset_connections)
            assert all(is_reset(sock) for sock in (client, broker, ends.client, ends.broker))
        until(lambda: not ends.proxy.connections, "they are gone")


@pytest.mark.parametrize("end", ["reset", "toxic removed", "all reset"])
def test_a_connection_that_was_half_open_is_released(end: str) -> None:
    with proxied() as ends:
        ends.net.call(ends.proxy.toxics.add, HalfOpen(), DOWN, name="half")
        ends.client.sendall(b"x")
        assert read(ends.broker, 1) == b"x"
        connection = weakref.ref(ends.proxy.connections[0])
        reset_by_peer(ends.broker)
        assert is_silent(ends.client)
        assert ends.proxy.connections
        if end == "reset":
            reset_by_peer(ends.client)
        elif end == "all reset":
            ends.net.call(ends.proxy.reset_connections)
        else:
            ends.net.call(ends.proxy.toxics.remove, "half")
            assert read_to_end(ends.client) == b""
            ends.client.shutdown(socket.SHUT_WR)
        until(lambda: not ends.proxy.connections, "it is gone")
        until(lambda: gc.collect() >= 0 and connection() is None, "nobody keeps it")


def reset_by_peer(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def test_many_small_pieces_in_a_toxic_stop_the_reading() -> None:
    """Each costs far more than its byte."""
    with proxied(limits=Limits(held_bytes=100_000)) as ends:
        ends.net.call(ends.proxy.toxics.add, BlackHole(), UP)
        ends.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = ends.proxy.connections[0].upstream
        count = 0
        while not ends.net.call(lambda: stream._is_paused):
            ends.client.sendall(b"x")
            count += 1
            assert count < 100_000
        chain = stream.way.chain
        assert chain is not None
        assert 0 < ends.net.call(lambda: chain.held_bytes) < 5_000
        assert 100_000 < ends.held_bytes() < 101_000


def test_a_call_from_the_proxies_own_thread_is_refused_at_once() -> None:
    with proxied() as ends:
        for call in (lambda: ends.net.call(ends.proxy.cut), lambda: ends.net.add(ends.proxy)):
            with pytest.raises(RuntimeError, match="own thread, which cannot wait for itself"):
                ends.net.call(call)


def test_toxics_come_and_go_under_way_and_are_told() -> None:
    events: list[Event] = []
    with proxied(tell=events.append) as ends:
        ends.net.call(ends.proxy.toxics.add, Timeout(timeout=0), DOWN, name="hole")
        ends.broker.sendall(b"swallowed")
        assert is_silent(ends.client)
        ends.net.call(ends.proxy.toxics.remove, "hole")
        ends.broker.sendall(b"and on")
        assert read_to_end_or(ends.client, b"and on")
        assert [event.what for event in events] == ["toxic_added", "fired", "toxic_removed"]
        until(lambda: ends.proxy.connections[0].downstream.way.chain is None, "a plain pipe again")


def read_to_end_or(sock: socket.socket, end: bytes) -> bool:
    """Whether what comes ends like this."""
    data = b""
    while not data.endswith(end):
        piece = sock.recv(65536)
        if not piece:
            return False
        data += piece
    return True

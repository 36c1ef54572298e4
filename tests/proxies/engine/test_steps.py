"""Effects of each kind of step."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from typing import Any

import pytest

from harness.proxies.direction import Direction
from harness.proxies.event import Event
from harness.proxies.limits import ProxyLimits
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
    WaitStep,
)
from harness.proxies.toxics.chain import PIECE_COST_BYTES
from tests.proxies.ends import read_to_end
from tests.proxies.engine.proxied import (
    Asking,
    answer,
    arrives,
    fetch,
    is_reset,
    is_silent,
    metadata,
    proxied,
    returns,
    until,
)

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


def nth(*steps: Sequence[Step] | None) -> Asking:
    """An interceptor that answers the nth request with the nth list, later ones with None."""
    asking = Asking()
    asking.on_request = lambda seen: dict(enumerate(steps)).get(seen.ordinal)
    return asking


def test_send_steps_replace_one_request_by_two() -> None:
    asking = nth([Send(fetch(7)), Send(fetch(8))])
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, fetch(7), fetch(8), metadata(2))
        ends.broker.sendall(answer(7) + answer(8) + answer(2))
        returns(ends, answer(7), answer(8), answer(2))
        assert [seen.request.ordinal for seen in asking.responses] == [0, 0, 1]
        assert ends.proxy.counters.mismatched == 0


def test_empty_step_list_drops_request() -> None:
    with proxied(interceptor=nth([])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(2))


def test_reordered_requests_keep_their_responses() -> None:
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


def test_send_back_response_waits_for_earlier_responses() -> None:
    with proxied(interceptor=nth(None, [SendBack(answer(2, b"mine"))])) as ends:
        ends.client.sendall(metadata(1) + metadata(2) + metadata(3))
        arrives(ends, metadata(1), metadata(3))
        assert is_silent(ends.client)
        ends.broker.sendall(answer(1) + answer(3))
        returns(ends, answer(1), answer(2, b"mine"), answer(3))


def test_immediate_send_back_waits_only_for_end_of_current_frame() -> None:
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


def test_wait_step_delays_later_frames() -> None:
    with proxied(interceptor=nth([WaitStep(150), Send(metadata(1))])) as ends:
        began = time.monotonic()
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(1), metadata(2))
        assert time.monotonic() - began >= 0.14


@pytest.mark.clock(bound_ms=2_000)
def test_wait_steps_from_arrival_do_not_accumulate(clock_scale: int) -> None:
    wait_ms = 200 * clock_scale
    asking = Asking(
        on_request=lambda seen: [WaitStep(wait_ms, from_arrival=True), Send(metadata(1))]
    )
    with proxied(interceptor=asking) as ends:
        began = time.monotonic()
        ends.client.sendall(metadata(1) * 20)
        arrives(ends, metadata(1) * 20)
        assert 0.95 * wait_ms <= (time.monotonic() - began) * 1000 < 10 * wait_ms


def test_hold_step_keeps_frames_until_gate_opens() -> None:
    gate = Gate()
    with proxied(interceptor=nth([Hold(gate), Send(metadata(1))])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        assert is_silent(ends.broker)
        ends.net.call(gate.open)
        arrives(ends, metadata(1), metadata(2))


def test_hold_step_ends_at_its_time_limit() -> None:
    with proxied(interceptor=nth([Hold(Gate(), at_most_ms=50), Send(metadata(1))])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(1), metadata(2))


def test_held_frames_stop_reads_at_byte_limit() -> None:
    limits = ProxyLimits(held_bytes=50_000)
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


def test_reset_connection_is_removed_from_gate() -> None:
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
def test_frame_set_aside_is_overtaken_by_later_frame(how: str) -> None:
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


def test_end_step_closes_one_direction_only() -> None:
    with proxied(interceptor=nth([Send(metadata(1)), End()])) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        assert read_to_end(ends.broker) == metadata(1)
        ends.broker.sendall(answer(1))
        returns(ends, answer(1))
        ends.broker.shutdown(socket.SHUT_WR)
        assert read_to_end(ends.client) == b""


def test_end_step_at_open_closes_one_direction_only() -> None:
    asking = Asking(on_open=lambda place: [Send(metadata(1)), End()])
    with proxied(interceptor=asking) as ends:
        assert read_to_end(ends.broker) == metadata(1)
        ends.broker.sendall(answer(1))
        returns(ends, answer(1))


def test_close_step_ends_connection_cleanly_with_unread_requests() -> None:
    steps: list[Step] = [SendBack(answer(1, bytes(300_000))), Close()]
    with proxied(interceptor=nth(steps)) as ends:
        ends.client.sendall(metadata(1) + metadata(2) * 1000)
        assert read_to_end(ends.client) == answer(1, bytes(300_000))
        assert read_to_end(ends.broker) == b""


def test_reset_step_resets_both_sides_after_sent_frames() -> None:
    with proxied(interceptor=nth([Send(metadata(1)), Reset()])) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, metadata(1))
        assert is_reset(ends.broker)
        assert is_reset(ends.client)
        until(lambda: not ends.proxy.connections, "the connection is gone")


@pytest.mark.parametrize("where", list(Direction))
@pytest.mark.parametrize("side", list(Direction))
def test_reset_of_one_side_leaves_the_other_open(side: Direction, where: Direction) -> None:
    """Whatever frame it is done for; bytes from the other side are dropped."""
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


def test_response_steps_send_several_frames() -> None:
    def twice(seen: SeenResponse) -> list[Step]:
        return [Send(answer(1, seen.payload[4:])), WaitStep(20), Send(answer(1, b"again"))]

    with proxied(interceptor=Asking(on_response=twice)) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, metadata(1))
        ends.broker.sendall(answer(1, b"once"))
        returns(ends, answer(1, b"once"), answer(1, b"again"))


def test_open_steps_run_before_first_client_frame() -> None:
    asking = Asking(on_open=lambda place: [WaitStep(50), Send(fetch(0))])
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1))
        arrives(ends, fetch(0), metadata(1))


def test_invalid_step_is_reported_and_changes_no_frame() -> None:
    events: list[Event] = []
    wrong: list[Any] = [["no step"], [Send("text")]]  # type: ignore[arg-type]
    asking = Asking(on_request=lambda seen: wrong[seen.ordinal])
    with proxied(interceptor=asking, tell=events.append) as ends:
        ends.client.sendall(metadata(1) + metadata(2))
        arrives(ends, metadata(1), metadata(2))
        assert [type(error) for error in ends.proxy.errors] == [TypeError, TypeError]
        assert [event.what for event in events] == ["error", "error"]

"""Actions that keep frames: held, shuffled, paired; and the release of each."""

from __future__ import annotations

import struct
from typing import Any

from harness.codec.frame import frame
from harness.codec.messages import (
    OffsetCommitRequest,
)
from harness.proxies.rules import requests, responses
from harness.proxies.seen import SeenConnection, SeenRequest
from harness.proxies.step import (
    Aside,
    Gate,
    Hold,
    Send,
)
from tests.proxies.rules.traffic import (
    Rules,
    Stream,
    armed,
    produce,
    produced,
    request,
    response,
    sent,
)

PRODUCE = request(produce(), 9, correlation_id=5)
WHOLE = frame(PRODUCE.payload)
PRODUCED = response(PRODUCE, produced())


def test_held_frame_is_released_by_another_rule() -> None:
    rules = armed(
        requests("Produce").named("late").hold(until="commit", at_most_ms=500),
        requests("OffsetCommit").named("commit").watch(),
    )
    steps = rules.show(PRODUCE)
    assert steps is not None
    hold, send = steps
    assert isinstance(hold, Hold)
    assert (hold.at_most_ms, hold.gate.is_open, send) == (500, False, Send(WHOLE))
    assert rules.show(request(OffsetCommitRequest(group_id="g"), 8)) is None
    assert hold.gate.is_open
    assert rules.told[-2:] == [("fired", "commit"), ("released", "late")]
    assert rules.events[-1].detail == {"frames": 1, "by": "commit"}


def gate_of(steps: Any) -> Gate:
    assert isinstance(steps[0], Hold | Aside)
    return steps[0].gate


def test_held_frame_is_released_by_call_or_by_disarm() -> None:
    rules = armed(requests("Produce").named("late").hold(at_most_ms=500))
    first = gate_of(rules.show(PRODUCE))
    assert rules.set.release("late") == 1
    assert first.is_open
    second, third = gate_of(rules.show(PRODUCE)), gate_of(rules.show(PRODUCE))
    rules.clock.now = 600
    assert rules.set.release("late") == 0  # its time was over
    assert second.is_open
    assert third.is_open
    fourth = gate_of(rules.show(PRODUCE))
    rules.set.disarm()
    assert fourth.is_open


def test_expired_gates_are_dropped() -> None:
    rules = armed(requests().named("late").hold(at_most_ms=10))
    for _ in range(1000):
        rules.show(PRODUCE)
        rules.clock.now += 1
    assert len(rules.set._armed["late"].gates._shut) < 100


def into(out: list[bytes], aside: Aside) -> None:
    """Append the frames that stand aside when their gate opens, as a proxy does it."""
    aside.gate.when_open(lambda: out.extend(sent(aside.steps())))


def collected(rules: Rules, count: int) -> tuple[Aside, list[bytes], list[bytes]]:
    """So many frames, of which only the first leaves a step; as they were, and as they go on."""
    stream = Stream()
    deferred, came = [], []
    out: list[bytes] = []
    for _ in range(count):
        seen = stream.request(produce(), 9)
        came.append(seen.payload)
        steps = rules.show(seen)
        assert steps is not None
        for step in steps:
            assert isinstance(step, Aside)
            deferred.append(step)
            into(out, step)
    (aside,) = deferred
    return aside, came, out


def test_reorder_window_shuffles_frames_by_seed() -> None:
    aside, came, out = collected(armed(requests().named("r").reorder(6, at_most_ms=50), seed=1), 6)
    assert aside.at_most_ms == 50
    assert out != came
    assert sorted(out) == sorted(came)
    assert collected(armed(requests().named("r").reorder(6), seed=1), 6)[2] == out
    assert collected(armed(requests().named("r").reorder(6), seed=2), 6)[2] != out


def test_partial_reorder_window_is_sent_at_its_deadline() -> None:
    rules = armed(requests().named("r").reorder(4))
    aside, came, out = collected(rules, 3)
    assert out == []
    assert sorted(sent(aside.steps())) == sorted(came)  # as the proxy does at the deadline
    (step,) = rules.show(PRODUCE) or ()
    assert isinstance(step, Aside)  # a new window begins


def test_reorder_window_of_large_frames_is_sent_early() -> None:
    rules = armed(requests().named("r").reorder(1000))
    out: list[bytes] = []
    for ordinal in range(10):
        for step in rules.show(SeenRequest(bytes(1_000_000), ordinal)) or ():
            assert isinstance(step, Aside)
            into(out, step)
        if out:
            break
    assert len(out) == 9


def test_reorder_windows_are_separate_per_connection() -> None:
    rules = armed(requests().reorder(2))
    first = rules.show(request(produce(), 9, place=SeenConnection(connection=0)))
    second = rules.show(request(produce(), 9, place=SeenConnection(connection=1)))
    assert not gate_of(first).is_open
    assert not gate_of(second).is_open


def test_consecutive_responses_swap_correlation_ids() -> None:
    rules = armed(responses().named("r").swap_correlation_ids(at_most_ms=70))
    stream = Stream()
    one, two = (response(stream.request(produce(name), 9), produced(name)) for name in "ab")
    (aside,) = rules.show(one) or []
    assert isinstance(aside, Aside)
    assert (aside.at_most_ms, aside.gate.is_open) == (70, False)
    out: list[bytes] = []
    into(out, aside)
    assert rules.show(two) == []
    assert [(struct.unpack_from(">i", o)[0], o[4:]) for o in out] == [
        (101, one.payload[4:]),
        (100, two.payload[4:]),
    ]
    assert rules.set.counts("r").fired == 2


def test_response_without_successor_keeps_correlation_id() -> None:
    rules = armed(responses().named("r").swap_correlation_ids())
    (aside,) = rules.show(PRODUCED) or []
    assert isinstance(aside, Aside)
    assert sent(aside.steps()) == [PRODUCED.payload]
    assert dict(rules.set.counts("r").skipped) == {"no second frame came to swap with": 1}
    (again,) = rules.show(PRODUCED) or []
    assert isinstance(again, Aside)  # the next is a first one again

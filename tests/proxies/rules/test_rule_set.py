"""Rules together: order, arming all or none, the frames that they want, their events."""

from __future__ import annotations

import pytest

from harness.codec.messages import MetadataRequest
from harness.proxies.direction import Direction
from harness.proxies.rules import RuleDidNotFire, RuleError, frames, read_rule, requests, responses
from harness.proxies.rules.counts import MOST_REASONS, MOST_TOUCHED, OTHER_REASONS, RuleCounts
from harness.proxies.seen import SeenConnection, SeenRequest
from harness.proxies.step import Close, Send, WaitStep
from tests.proxies.rules.traffic import (
    Stream,
    armed,
    fetch,
    fetched,
    produce,
    produced,
    request,
    response,
    sent,
)

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
PRODUCE = request(produce(), 9)


def test_first_firing_rule_decides() -> None:
    rules = armed(
        requests("Fetch").named("other").drop(),
        requests("Produce").nth(2).named("second").close(),
        requests("Produce").named("first").drop(),
    )
    assert rules.show(PRODUCE) == []
    assert rules.show(PRODUCE) == [Close()]
    counts = rules.set.counts("first")
    assert (counts.matched, counts.fired) == (2, 1)
    assert dict(counts.skipped) == {'rule "second" had decided': 1}


def test_continuing_rules_pass_changed_frame_to_next_rule() -> None:
    rules = armed(
        requests("Produce").and_on().set_correlation_id(7),
        requests("Produce").and_on().duplicate(),
        requests("Produce").and_on().delay(5),
        requests("Produce").append(b"!"),
        requests("Produce").named("never").drop(),
    )
    steps = list(rules.show(PRODUCE) or ())
    assert steps[0] == steps[2] == WaitStep(5, from_arrival=True)
    changed = PRODUCE.payload[:4] + b"\0\0\0\x07" + PRODUCE.payload[8:] + b"!"
    assert sent([steps[1], steps[3]]) == [changed] * 2
    assert rules.set.counts("never").fired == 0


def test_skipped_action_leaves_frame_to_next_rule() -> None:
    rules = armed(
        requests().truncate(10_000),
        requests().named("next").drop(),
    )
    assert rules.show(PRODUCE) == []
    assert rules.set.counts("next").fired == 1


def test_watch_rule_counts_frames_decided_by_others() -> None:
    rules = armed(requests().drop(), requests().named("count").watch())
    assert rules.show(PRODUCE) == []
    assert rules.set.counts("count").fired == 1


def test_rule_set_wants_only_frames_of_armed_rules() -> None:
    rules = armed()
    idle = [rules.set.is_idle]
    assert not rules.set.wants(UP, 0, 9)
    rules.set.arm(requests("Produce").named("r").drop())
    idle.append(rules.set.is_idle)
    assert [rules.set.wants(UP, key, 9) for key in (0, 1)] == [True, False]
    assert not rules.set.wants(DOWN, 0, 9)
    rules.set.arm(responses("Fetch").named("s").drop())
    assert [rules.set.wants(UP, key, 9) for key in (0, 1, 3)] == [True, True, False]
    assert [rules.set.wants(DOWN, key, 9) for key in (0, 1)] == [False, True]
    rules.set.arm(responses().named("t").drop())
    assert rules.set.wants(UP, 3, 9)
    assert rules.set.wants(DOWN, 3, 9)
    rules.set.disarm()
    idle.append(rules.set.is_idle)
    assert idle == [True, False, True]
    assert not rules.set.wants(DOWN, 3, 9)


def test_rules_are_armed_all_or_none() -> None:
    rules = armed(requests().named("a").drop())
    b, c = requests().named("b").drop(), requests().named("c")
    with pytest.raises(RuleError, match='there are two rules "a"'):
        rules.set.arm(b, requests().named("a").drop())
    with pytest.raises(RuleError, match='after_rule: no rule "bb" - did you mean "b"'):
        rules.set.arm(b, c.after_rule("bb").drop())
    with pytest.raises(RuleError, match=r'hold.until: no rule "z"; known: c, b'):
        rules.set.arm(c.hold(at_most_ms=1, until="z"), b, replace=True)
    assert [rule.id for rule in rules.set.rules] == ["a"]
    rules.set.arm(b, c.after_rule(b).drop(), replace=True)
    assert [rule.id for rule in rules.set.rules] == ["b", "c"]
    assert rules.told == [("armed", "a"), ("disarmed", "a"), ("armed", "b"), ("armed", "c")]


def test_rules_are_disarmed_all_or_none() -> None:
    rules = armed(requests().named("a").drop(), requests().named("b").drop())
    with pytest.raises(RuleError, match='no armed rule "c"; known: a, b'):
        rules.set.disarm("a", "c")
    assert len(rules.set.rules) == 2
    rules.set.disarm("a")
    assert [rule.id for rule in rules.set.rules] == ["b"]
    with pytest.raises(RuleError, match='no armed rule "a"'):
        rules.set.release("a")


def test_rule_without_id_gets_its_text_as_id() -> None:
    rule = responses("Produce", "Fetch").topic("orders").nth(2).drop()
    assert rule.id == str(rule) == "response Produce,Fetch topic=orders nth=2 drop"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"drop": True, "close": True}, "close: has two actions, drop and close"),
        ({}, "has no action; one of drop, delay, hold"),
        ({"dorp": True}, 'dorp: no key of a rule "dorp" - did you mean "drop"?'),
        ({"drop": True, "go_on": True}, "go_on: nothing can be done to a frame behind drop"),
        ({"drop": True, "go_on": 1}, "go_on: must be true or false, is 1"),
        ({"drop": True, "id": 7}, "id: must be text that is not empty, is 7"),
    ],
)
def test_invalid_rule_raises_rule_error(words: dict[str, object], problem: str) -> None:
    with pytest.raises(RuleError) as told:
        read_rule(words)
    assert problem in str(told.value)


# -- their events ----------------------------------------------------------------------------------


def test_firing_is_reported_as_event_and_in_json() -> None:
    rules = armed(requests("Produce").named("r").drop())
    rules.clock.now = 12.5
    stream = Stream(SeenConnection("1", "2", 3), count=4)
    rules.show(stream.request(produce(), 9))
    assert rules.events[-1].to_json() == {
        "at_ms": 12.5,
        "what": "fired",
        "link": "1->2",
        "connection": 3,
        "direction": "upstream",
        "frame": 4,
        "rule": "r",
        "detail": {"action": "drop", "api": "Produce", "version": 9, "correlation_id": 104},
    }
    (shown,) = rules.set.to_json()
    assert shown == {
        "id": "r",
        "rule": {"on": "request", "api": "Produce", "id": "r", "drop": True},
        "seen": 1,
        "outside": 0,
        "matched": 1,
        "fired": 1,
        "expired": 0,
        "skipped": {},
        "touched": [
            {
                "at_ms": 12.5,
                "link": "1->2",
                "connection": 3,
                "direction": "upstream",
                "frame": 4,
                "api": "Produce",
                "version": 9,
                "correlation_id": 104,
            }
        ],
        "nearest": None,
    }


def test_remembered_firings_and_skip_reasons_are_bounded() -> None:
    rules = armed(requests().named("r").drop())
    for _ in range(3 * MOST_TOUCHED):
        rules.show(PRODUCE)
    counts = rules.set.counts("r")
    assert (counts.fired, len(counts.touched)) == (3 * MOST_TOUCHED, MOST_TOUCHED)
    counts = RuleCounts()
    for number in range(3 * MOST_REASONS):
        counts.skip(f"reason {number}")
    assert len(counts.skipped) == MOST_REASONS + 1
    assert counts.skipped[OTHER_REASONS] == 2 * MOST_REASONS


def test_expect_fired_passes_for_fired_rules() -> None:
    rules = armed(requests("Produce").named("r").drop(), requests().named("s").watch())
    rules.show(PRODUCE)
    rules.set.expect_fired()
    rules.set.expect_fired("r", "s")
    rules.show(PRODUCE)
    rules.set.expect_fired("r", at_least=2)
    rules.set.disarm("r")
    rules.set.expect_fired("r")  # its counts stay


def test_unfired_rule_error_contains_counts_and_nearest_miss() -> None:
    rules = armed(
        responses("Produce").topic("orders").field("**.error_code", "NONE").named("r").drop(),
        requests("Fetch").named("none").drop(),
        requests("Produce").named("late").nth(9).drop(),
        requests("Produce").after_ms(1000).named("later").drop(),
    )
    for topic in ("payments", "orders"):
        seen = request(produce(topic), 9)
        rules.show(seen)
        rules.show(response(seen, produced(topic, 6)))
    with pytest.raises(RuleDidNotFire) as told:
        rules.set.expect_fired()
    place = "frame 0 of connection 0, client->broker"
    saw = "2 frames seen, 0 matched, 0 fired"
    assert str(told.value).splitlines() == [
        (f'rule "r" has not fired: {saw}; the nearest miss: Produce v9 response, {place}: '
        "**.error_code is NOT_LEADER_OR_FOLLOWER (6), not NONE (0)"),
        (f'rule "none" has not fired: {saw}; the nearest miss: Produce v9 request, {place}: '
        "API is Produce, not Fetch"),
        'rule "late" has not fired: 2 frames seen, 2 matched, 0 fired',
        f'rule "later" has not fired: {saw}; 2 would match, but at a time when it is not at work',
    ]  # fmt: skip


def test_expect_fired_fails_for_too_few_firings_or_no_rules() -> None:
    rules = armed(requests().named("r").lie_about_length(to=7))
    with pytest.raises(RuleDidNotFire, match="no frame of its direction and APIs has passed"):
        rules.set.expect_fired("r")
    rules.show(SeenRequest(b"7 bytes"))
    with pytest.raises(RuleDidNotFire, match="1 skipped: the frame is 7 bytes long"):
        rules.set.expect_fired("r")
    rules.show(PRODUCE)
    with pytest.raises(RuleDidNotFire, match='rule "r" has not fired 2 times: 2 frames seen'):
        rules.set.expect_fired("r", at_least=2)
    with pytest.raises(RuleError, match='no rule "s"; known: r'):
        rules.set.expect_fired("s")
    with pytest.raises(RuleDidNotFire, match="no rule is armed"):
        armed().set.expect_fired()


def test_frame_without_matching_rule_has_no_steps() -> None:
    rules = armed(frames("Produce").drop())
    seen = request(MetadataRequest(), 9)
    assert rules.show(seen) is None
    fetches = request(fetch(), 12)
    assert rules.show(response(fetches, fetched())) is None
    assert rules.show(PRODUCE) == []
    assert isinstance(armed(frames().delay(1)).show(PRODUCE), list)
    assert Send(b"") not in (rules.show(PRODUCE) or [])

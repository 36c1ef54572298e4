"""Choice among the matching frames, and the times at which a rule is active."""

from __future__ import annotations

from typing import Any

import pytest

from harness.codec.messages import MetadataRequest
from harness.proxies.direction import Direction
from harness.proxies.rules import RuleError, requests, responses, when
from harness.proxies.seen import SeenConnection
from tests.proxies.rules.traffic import Rules, Stream, armed, fetch, produce, produced, response


def taken(rules: Rules, stream: Stream, count: int = 10) -> list[int]:
    """The numbers, from 1, of the Produce requests for which the rules fire."""
    return [n + 1 for n in range(count) if rules.fires(stream.request(produce(), 9))]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ({}, list(range(1, 11))),
        ({"nth": 3}, [3]),
        ({"nth": [1, 5]}, [1, 5]),
        ({"first": 2}, [1, 2]),
        ({"every": 4}, [4, 8]),
        ({"skip": 8}, [9, 10]),
        ({"skip": 2, "first": 1}, [3]),
        ({"skip": 1, "every": 3}, [4, 7, 10]),
        ({"first": 6, "every": 2}, [2, 4, 6]),
        ({"probability": 0}, []),
        ({"probability": 1}, list(range(1, 11))),
        ({"after_frames": 7}, [8, 9, 10]),
        ({"after_frames": 7, "first": 1}, [8]),
    ],
)
def test_occurrence_options_select_expected_frames(
    words: dict[str, Any], wanted: list[int]
) -> None:
    rules = armed(when(api="Produce", on="request", **words).drop())
    assert taken(rules, Stream()) == wanted


@pytest.mark.parametrize(
    ("per", "wanted"), [("all", [1, 0, 0]), ("link", [1, 0, 1]), ("connection", [1, 1, 1])]
)
def test_frames_are_counted_per_rule_link_or_connection(per: str, wanted: list[int]) -> None:
    rules = armed(requests("Produce").first(1).per(per).drop())
    places = [
        SeenConnection(connection=0),
        SeenConnection(connection=1),
        SeenConnection("1", "2", 0),
    ]
    assert [len(taken(rules, Stream(place))) for place in places] == wanted


def test_closed_connection_leaves_no_counts() -> None:
    rules = armed(requests("Produce").named("r").first(1).per("connection").reorder(2))
    for connection in range(100):
        stream = Stream(SeenConnection(connection=connection))
        assert taken(rules, stream, 2) == [1]
        rules.set.closed(stream.place)
    kept = rules.set._armed["r"]
    assert not kept._memory
    assert not kept._matches._counts


def test_probability_selects_expected_share_of_frames() -> None:
    rules = armed(requests("Produce").with_probability(0.3).drop(), seed=4)
    assert 250 < len(taken(rules, Stream(), 1000)) < 350


def test_after_frames_counts_frames_of_every_api() -> None:
    """Over links also those of other APIs, so all must be shown; of a connection the ordinal."""
    rules = armed(requests("Produce").after_frames(3).drop())
    assert rules.set.wants(Direction.UPSTREAM, 3, 9)
    stream = Stream()
    for _ in range(3):
        assert not rules.fires(stream.request(MetadataRequest(), 9))
    assert taken(rules, stream, 1) == [1]
    rules = armed(requests("Produce").after_frames(3).per("connection").drop())
    assert not rules.set.wants(Direction.UPSTREAM, 3, 9)
    assert taken(rules, Stream(), 5) == [4, 5]


def test_rule_fires_only_in_its_active_period() -> None:
    rules = armed(requests("Produce").after_ms(100).for_ms(50).named("r").drop())
    stream = Stream()
    for now, fires in ((99.9, False), (100, True), (149.9, True), (150, False)):
        rules.clock.now = now
        assert rules.fires(stream.request(produce(), 9)) is fires
    counts = rules.set.counts("r")
    assert (counts.outside, counts.matched, counts.fired) == (2, 2, 2)


def test_rule_active_period_starts_at_arming() -> None:
    rules = armed()
    rules.clock.now = 1000
    rules.set.arm(requests("Produce").for_ms(50).drop())
    assert taken(rules, Stream(), 1) == [1]


def test_rule_is_active_after_and_until_firings_of_another() -> None:
    rules = armed(
        requests("Fetch").named("fetches").watch(),
        requests("Produce").after_rule("fetches", 2).until_rule("fetches", 3).named("r").drop(),
    )
    stream, fired = Stream(), []
    for _ in range(4):
        fired.append(rules.fires(stream.request(produce(), 9)))
        rules.fires(stream.request(fetch(), 12))
    assert fired == [False, False, True, False]


def test_response_rule_counts_responses_not_requests() -> None:
    rules = armed(responses("Produce").nth(2).drop())
    stream = Stream()
    seen = [stream.request(produce(), 9) for _ in range(3)]
    assert not any(rules.fires(one) for one in seen)
    assert [rules.fires(response(one, produced())) for one in seen] == [False, True, False]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"nth": 0}, "nth: must be a whole number of 1 at least, is 0"),
        ({"nth": 5, "first": 2}, "nth: never comes: only the first 2 are taken"),
        ({"probability": 1.5}, "probability: must be a number from 0 to 1, is 1.5"),
        ({"probability": float("nan")}, "probability: must be a number from 0 to 1, is nan"),
        ({"per": "topic"}, 'per: no way to count "topic"; known: all, link, connection'),
        ({"after_ms": -1}, "after_ms: must be a number of milliseconds from 0 to 8.64e+07, is -1"),
        ({"after_ms": True}, "after_ms: must be a number of milliseconds"),
        ({"after_rule": {"times": 1}}, "after_rule: needs the id of a rule, as rule = ..."),
        ({"after_rule": {"rule": "x", "time": 1}}, 'after_rule: no setting "time"'),
        ({"until_rule": 3}, "until_rule: must be a table that is not empty, is 3"),
        ({"id": "r", "after_rule": "r"}, "after_rule: a rule cannot wait for itself"),
    ],
)
def test_invalid_occurrence_option_raises_rule_error(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(RuleError) as told:
        when(**words).drop()
    assert problem in str(told.value)

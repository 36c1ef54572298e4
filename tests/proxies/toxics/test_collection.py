"""Toxics by name: valid settings, and calls of listeners."""

from __future__ import annotations

from typing import Any

import pytest

from harness.proxies.direction import Direction
from harness.proxies.toxics.attributes import BadAttribute
from harness.proxies.toxics.black_hole import BlackHole
from harness.proxies.toxics.chain import ToxicChange
from harness.proxies.toxics.collection import NoSuchToxic, ToxicCollection, ToxicExists
from harness.proxies.toxics.corrupt import Corrupt
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.named import BadStream, NamedToxic
from harness.proxies.toxics.reset_peer import ResetPeer
from harness.proxies.toxics.slow_accept import SlowAccept
from harness.proxies.toxics.toxic import StreamMarker
from harness.proxies.toxics.types import TYPES, UnknownToxicType
from tests.proxies.toxics.streams import drawn, through

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM

SMALLEST_JSON: dict[str, dict[str, Any]] = {
    "slicer": {"average_size": 1},
    "corrupt": {"every": 1},
}


@pytest.mark.parametrize("type_name", TYPES)
def test_every_toxic_type_round_trips_through_json_and_runs(type_name: str) -> None:
    fields = {"type": type_name, "attributes": SMALLEST_JSON.get(type_name, {})}
    named = NamedToxic.from_json(fields)
    again = NamedToxic.from_json(named.to_json())
    assert again == named
    assert again.to_json() == named.to_json()
    chain = through(named)
    chain.push(b"x", 0.0)
    chain.push(StreamMarker.END, 0.0)
    chain.remove(named.name, 0.0)
    held = chain.advance(0.0)
    assert held == [b"x", StreamMarker.END] or type_name in ("reset_peer", "limit_data", "corrupt")


def test_latency_toxic_json_has_toxiproxy_defaults() -> None:
    assert NamedToxic.from_json({"type": "latency"}).to_json() == {
        "attributes": {"latency": 0, "jitter": 0},
        "name": "latency_downstream",
        "type": "latency",
        "stream": "downstream",
        "toxicity": 1.0,
    }


def test_toxic_json_omits_unused_optional_attributes() -> None:
    assert Latency(1, 2, "normal").to_json() == {
        "latency": 1,
        "jitter": 2,
        "distribution": "normal",
    }
    assert Corrupt(every=2).to_json() == {"every": 2, "probability": 0}
    assert Corrupt(offsets=(2, 1), set_to=0).to_json()["offsets"] == [1, 2]


def test_integral_float_is_accepted_as_integer() -> None:
    named = NamedToxic.from_json({"type": "limit_data", "attributes": {"bytes": 5.0}})
    assert named.toxic.to_json() == {"bytes": 5}


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"type": "latncy"}, UnknownToxicType, 'did you mean "latency"'),
        ({}, UnknownToxicType, "known are latency, bandwidth"),
        ({"type": 5}, BadAttribute, "type must be a string, not 5"),
        ({"type": "latency", "stream": "upstraem"}, BadStream, 'did you mean "upstream"'),
        ({"type": "latency", "stream": 1}, BadStream, "1"),
        ({"type": "latency", "toxicity": 1.01}, BadAttribute, "toxicity must be a number from 0"),
        ({"type": "latency", "toxicity": True}, BadAttribute, "toxicity must be a number"),
        ({"type": "latency", "toxicity": float("nan")}, BadAttribute, "toxicity must be"),
        ({"type": "latency", "toxcity": 1}, BadAttribute, 'did you mean "toxicity"'),
        ({"type": "latency", "name": 5}, BadAttribute, "name must be a string"),
        ({"type": "latency", "attributes": [1]}, BadAttribute, "attributes must be an object"),
        (["latency"], BadAttribute, "must be an object"),
    ],
)
def test_wrong_toxic_field_raises_specific_error(
    fields: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        NamedToxic.from_json(fields)


@pytest.mark.parametrize(
    ("type_name", "attributes", "message"),
    [
        ("latency", {"latnecy": 1}, 'latency has no attribute "latnecy" - did you mean "latency"'),
        ("latency", {"latency": "1s"}, "latency: latency must be a number, not '1s'"),
        ("latency", {"latency": -1}, "latency must be at least 0, not -1"),
        ("latency", {"jitter": True}, "jitter must be a number, not True"),
        ("latency", {"jitter": float("inf")}, "jitter must be at least 0, not inf"),
        ("latency", {"distribution": "normale"}, 'did you mean "normal"'),
        ("latency", {"distribution": []}, "must be one of uniform, normal, pareto"),
        ("limit_data", {"bytes": 1.5}, "bytes must be a whole number, not 1.5"),
        ("limit_data", {"bytes": None}, "bytes must be a whole number, not None"),
        ("slicer", {}, "average_size must be at least 1, not 0"),
        ("slicer", {"average_size": 4, "size_variation": 4}, "size_variation must be less than"),
        ("black_hole", {"timeout": 1}, "it has none"),
        ("packet_loss", {"probability": 1.5}, "probability must be from 0 to 1, not 1.5"),
        ("corrupt", {}, "give one of offsets, every, probability; there is none"),
        ("corrupt", {"every": 2, "offsets": [1]}, "there is offsets and every"),
        ("corrupt", {"every": 2, "xor": 1, "set_to": 1}, "give one of xor, set_to, not both"),
        ("corrupt", {"every": 2, "xor": 0}, "xor must be from 1 to 255, not 0"),
        ("corrupt", {"offsets": 5}, "offsets must be a list of whole numbers, not 5"),
        ("corrupt", {"offsets": [-1]}, "offsets must be at least 0"),
    ],
)
def test_wrong_toxic_attribute_raises_error_with_its_name(
    type_name: str, attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadAttribute, match=message):
        NamedToxic.from_json({"type": type_name, "attributes": attributes})


def test_toxic_constructor_raises_error_for_wrong_attribute() -> None:
    with pytest.raises(BadAttribute, match="latency: latency must be at least 0"):
        Latency(-5)


class TestCollection:
    def test_names_are_unique_over_both_directions(self) -> None:
        toxics = ToxicCollection()
        toxics.add(Latency(1), UP, name="slow")
        with pytest.raises(ToxicExists, match='"slow"'):
            toxics.add(Latency(1), DOWN, name="slow")
        assert len(toxics) == 1

    def test_add_all_with_existing_name_adds_no_toxic(self) -> None:
        toxics = ToxicCollection()
        told: list[ToxicChange] = []
        toxics.subscribe(lambda change, named: told.append(change))
        pair = [NamedToxic.of(Latency(1), name=name) for name in ("a", "b")]
        toxics.add_all(pair)
        with pytest.raises(ToxicExists, match='"b"'):
            toxics.add_all([NamedToxic.of(Latency(1), name=name) for name in ("c", "b")])
        with pytest.raises(ToxicExists, match='"d"'):
            toxics.add_all([NamedToxic.of(Latency(1), name="d") for _ in range(2)])
        assert [named.name for named in toxics] == ["a", "b"]
        assert told == [ToxicChange.ADDED, ToxicChange.ADDED]

    def test_listener_of_add_all_finds_all_toxics_present(self) -> None:
        toxics = ToxicCollection()
        seen: list[int] = []
        toxics.subscribe(lambda change, named: seen.append(len(toxics)))
        toxics.add_all([NamedToxic.of(Latency(1), name=name) for name in "abc"])
        assert seen == [3, 3, 3]

    def test_upstream_toxics_are_listed_first_in_insertion_order(self) -> None:
        toxics = ToxicCollection()
        for name, direction in [("a", DOWN), ("b", UP), ("c", DOWN), ("d", UP)]:
            toxics.add(Latency(1), direction, name=name)
        assert [named.name for named in toxics] == ["b", "d", "a", "c"]
        assert [named.name for named in toxics.towards(DOWN)] == ["a", "c"]
        assert [fields["name"] for fields in toxics.to_json()] == ["b", "d", "a", "c"]

    def test_update_changes_given_attributes_and_keeps_position_and_counts(self) -> None:
        toxics = ToxicCollection()
        before = toxics.add(Latency(100, 10), name="a")
        toxics.add(Latency(1), name="b")
        after = toxics.update("a", toxicity=0.5, latency=7)
        assert (after.toxic, after.toxicity) == (Latency(7, 10), 0.5)
        assert after.counts is before.counts
        assert [named.name for named in toxics] == ["a", "b"]
        assert toxics.get("a") is after

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"stream": "upstream"}, "stream of a toxic can't be changed"),
            ({"attributes": {"late": 1}}, "no attribute"),
            ({"toxicity": 2}, "toxicity"),
        ],
    )
    def test_wrong_update_changes_no_toxic(self, fields: dict[str, Any], message: str) -> None:
        toxics = ToxicCollection()
        before = toxics.add(Latency(100), name="a")
        told: list[ToxicChange] = []
        toxics.subscribe(lambda change, named: told.append(change))
        with pytest.raises(BadAttribute, match=message):
            toxics.update_json("a", fields)
        assert toxics.get("a") is before
        assert told == []

    def test_unknown_toxic_name_raises_error_with_nearest_name(self) -> None:
        toxics = ToxicCollection()
        toxics.add(Latency(1))
        for ask in (toxics.get, toxics.remove, toxics.update):
            with pytest.raises(NoSuchToxic, match='did you mean "latency_downstream"'):
                ask("latency_downstraem")

    def test_subscribed_chain_follows_changes_until_unsubscribed(self) -> None:
        toxics = ToxicCollection()
        chain = toxics.chain(DOWN, drawn(0.5), 0.0)
        end = toxics.subscribe(lambda change, named: chain.apply(change, named, 1.0))
        toxics.add(BlackHole(), DOWN)
        chain.push(b"x", 1.0)
        assert chain.advance(1.0) == []
        toxics.clear()
        assert chain.advance(1.0) == [b"x"]
        end()
        end()
        toxics.add(BlackHole(), DOWN)
        assert chain.is_idle

    def test_new_chain_contains_only_toxics_of_its_direction(self) -> None:
        toxics = ToxicCollection()
        toxics.add(BlackHole(), UP)
        assert toxics.chain(DOWN, drawn(0.5), 0.0).is_idle
        assert not toxics.chain(UP, drawn(0.5), 0.0).is_idle

    def test_chain_for_open_stream_counts_reset_timeout_from_now(self) -> None:
        toxics = ToxicCollection()
        toxics.add(ResetPeer(10))
        toxics.add(SlowAccept(10))
        chain = toxics.chain(DOWN, drawn(0.5), 0.0, now_ms=1000.0)
        assert chain.next_due_ms == 1010.0
        toxics.remove("reset_peer_downstream")
        chain = toxics.chain(DOWN, drawn(0.5), 0.0, now_ms=1000.0)
        chain.push(b"x", 1000.0)
        assert chain.advance(1000.0) == [b"x"]

    def test_listener_ended_during_call_still_receives_current_change(self) -> None:
        toxics = ToxicCollection()
        told: list[str] = []

        def first(change: ToxicChange, named: NamedToxic) -> None:
            told.append("first")
            end_second()

        toxics.subscribe(first)
        end_second = toxics.subscribe(lambda change, named: told.append("second"))
        toxics.add(Latency(1))
        toxics.remove("latency_downstream")
        assert told == ["first", "second", "first"]

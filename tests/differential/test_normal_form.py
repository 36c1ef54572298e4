"""The normal form of an answer, without the parts that a broker may choose."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.codec.records.value_form import records_bytes
from harness.differential.normal_form import A_TIME, AN_ADDRESS, normal_form
from harness.differential.symbols import NOBODYS_UUID, Bindings

BASE_MS = 1_700_000_000_000
ONE, TWO = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"


@pytest.fixture
def bound() -> Bindings:
    return Bindings("kc-x", BASE_MS, said={"kc-x-a", "kc-x-b", "x/y"})


def test_ids_become_symbols_in_order_of_appearance(bound: Bindings) -> None:
    shown = [normal_form("InitProducerId", {"producer_id": n}, bound) for n in (7001, 9, 7001, -1)]
    assert [one["producer_id"] for one in shown] == [
        "$producer_id:0", "$producer_id:1", "$producer_id:0", -1,
    ]  # fmt: skip
    assert bound.filled({"producer_id": "$producer_id:1"}) == {"producer_id": 9}


def test_epoch_symbol_is_the_newest_that_an_answer_gave(bound: Bindings) -> None:
    """Errors give none, and neither do answers that only show a producer."""
    assert bound.filled("$producer_epoch:0") == 0
    for api, code, epoch in (
        ("InitProducerId", 0, 3), ("EndTxn", 0, 4), ("EndTxn", 47, 9), ("Describe", 0, 8),
    ):  # fmt: skip
        answer = {"error_code": code, "producer_id": 7001, "producer_epoch": epoch}
        assert normal_form(api, answer, bound)["producer_epoch"] == epoch
    assert bound.filled(["$producer_epoch:0", "$producer_epoch:1"]) == [4, 0]


def test_unseen_id_is_filled_with_unused_uuid(bound: Bindings) -> None:
    assert bound.filled("$topic_id:0") == NOBODYS_UUID


def topics(*pairs: tuple[str | None, str]) -> Any:
    return {"topics": [{"name": name, "topic_id": topic_id} for name, topic_id in pairs]}


def test_normal_form_ignores_order_of_named_topics(bound: Bindings) -> None:
    other = Bindings("kc-x", BASE_MS, said=bound.said)
    one = normal_form("Metadata", topics(("kc-x-a", ONE), ("kc-x-b", TWO)), bound)
    assert one == normal_form("Metadata", topics(("kc-x-b", ONE), ("kc-x-a", TWO)), other)


def test_normal_form_ignores_order_of_topics_with_id_only(bound: Bindings) -> None:
    other = Bindings("kc-x", BASE_MS, said=bound.said)
    one = normal_form("Produce", topics((None, NOBODYS_UUID), (None, str(UUID(int=0)))), bound)
    assert one == normal_form(
        "Produce", topics((None, str(UUID(int=0))), (None, NOBODYS_UUID)), other
    )


def test_normal_form_drops_topics_of_other_users(bound: Bindings) -> None:
    shown = topics(("kc-y-a", ONE), ("kc-x-a", TWO), ("__internal", ONE), ("x/y", ONE), (None, ONE))
    found = normal_form("Metadata", shown, bound)["topics"]
    assert [one["name"] for one in found] == ["$name-a", "x/y", None]
    assert bound.ids["topic_id"] == [TWO, ONE]


@pytest.mark.parametrize(
    ("api", "field", "value", "left"),
    [
        ("Produce", "throttle_time_ms", 5, None),
        ("Produce", "error_message", "words", None),
        ("Metadata", "host", "10.0.0.1", AN_ADDRESS),
        ("FindCoordinator", "port", -1, -1),
        ("Produce", "log_append_time_ms", BASE_MS + 5, "$time:5"),
        ("Produce", "log_append_time_ms", BASE_MS + 61_000, A_TIME),
        ("Produce", "log_append_time_ms", -1, -1),
        ("ListOffsets", "timestamp", 17, 17),
        ("ListOffsets", "error_code", 3, 3),
    ],
)
def test_normal_form_replaces_variable_fields(
    bound: Bindings, api: str, field: str, value: Any, left: Any
) -> None:
    assert normal_form(api, {field: value}, bound) == {field: left}


def test_normal_form_compares_decoded_records_and_compression(bound: Bindings) -> None:
    records = [{"timestamp": BASE_MS + 1, "value": "00" * 50}] * 2
    gzip, zstd = (
        records_bytes([{"magic": 2, "compression": kind, "records": records}]).hex()
        for kind in ("gzip", "zstd")
    )
    one, other = (normal_form("Fetch", {"records": data}, bound) for data in (gzip, zstd))
    assert one["records"][0]["records"] == other["records"][0]["records"]
    assert one["records"][0]["base_timestamp"] == "$time:1"
    assert one != other, "the compression that a broker stores is its answer"


def test_fill_of_compressed_messages_is_left_out_of_normal_form(bound: Bindings) -> None:
    fill = b"\xff" * 9

    def form(magic: int, kind: str, end: bytes) -> Any:
        batch = {"magic": magic, "compression": kind, "records": [{"value": "00" * 50}]}
        sent = records_bytes([batch]) + end
        return normal_form("Fetch", {"records": sent.hex()}, bound)["records"]

    assert form(1, "gzip", fill) == form(1, "gzip", b"")
    for magic, kind in ((1, "none"), (2, "gzip")):
        assert form(magic, kind, fill)[1:] == ["the beginning of a batch"]
    assert normal_form("Fetch", {"records": fill.hex()}, bound) == {
        "records": ["the beginning of a batch"]
    }


def test_listed_group_without_name_belongs_to_no_conversation() -> None:
    """Another client may have made it: its name is not drawn, so it is the same in all."""
    bound = Bindings("kc-x", BASE_MS, said={"", "kc-x-g"})
    listed = {"groups": [{"group_id": ""}, {"group_id": "kc-x-g"}]}
    assert normal_form("ListGroups", listed, bound) == {"groups": [{"group_id": "$name-g"}]}
    assert len(normal_form("DescribeGroups", listed, bound)["groups"]) == 2


def test_unreadable_records_are_marked_as_damaged(bound: Bindings) -> None:
    damaged = records_bytes([{"magic": 2, "records": [{"value": "00"}]}])[:-1] + b"\xff"
    assert "damaged" in normal_form("Fetch", {"records": damaged.hex()}, bound)["records"]

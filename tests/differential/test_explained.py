"""Differences, and which of them an entry of the table explains."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.differential.conversation import ConversationStep
from harness.differential.difference import MISSING, Difference, differences
from harness.differential.explained import (
    Explained,
    ExplainedError,
    judged,
    load_explained,
)
from harness.differential.player import How, PlayedAnswer

STEP = ConversationStep("Fetch", 12, {})
SPECS = ("reference", "kafka:4.4.0")
ENTRY = """
[[explained]]
api = "Fetch"
field = "responses.*"
versions = "4-11"
values = "[0, 3]"
between = ["kafka", "reference"]
reason = "a test"
"""


def answered(meaning: Any) -> PlayedAnswer:
    return PlayedAnswer(How.ANSWERED, meaning)


def found(one: PlayedAnswer, other: PlayedAnswer) -> list[tuple[str, tuple[Any, Any]]]:
    return [(each.path, each.values) for each in differences([STEP], [one], [other])]


def test_differences_name_every_differing_field() -> None:
    one = answered({"a": 1, "list": [{"b": 0}, {"b": 2}], "only": None, "short": [1]})
    other = answered({"a": 1, "list": [{"b": 0}, {"b": 3}], "short": []})
    assert found(one, other) == [
        ("list[1].b", (2, 3)),
        ("only", (None, MISSING)),
        ("short", ([1], [])),
    ]


def test_false_differs_from_0_and_null_from_empty_list() -> None:
    assert found(answered({"a": False, "b": None}), answered({"a": 0, "b": []})) == [
        ("a", (False, 0)), ("b", (None, [])),
    ]  # fmt: skip


def test_missing_response_of_one_broker_is_only_difference() -> None:
    closed = PlayedAnswer(How.CLOSED, note="an end of file")
    assert found(answered({"error_code": 0}), closed) == [("how", (How.ANSWERED, How.CLOSED))]
    assert found(closed, PlayedAnswer(How.CLOSED, note="a reset")) == []


def entry(tmp_path: Path, text: str = ENTRY) -> Explained:
    file = tmp_path / "explained.toml"
    file.write_text(text)
    (one,) = load_explained(file)
    return one


def difference(path: str, *values: int, version: int = 5) -> Difference:
    return Difference(0, "Fetch", version, path, (values[0], values[1]))


def test_entry_covers_its_field_values_versions_and_targets(tmp_path: Path) -> None:
    one, path = entry(tmp_path), "responses[2].partitions[0].error_code"
    assert one.covers(difference(path, 0, 3), [STEP], SPECS)
    assert one.covers(difference(path, 3, 0), [STEP], SPECS)
    assert not one.covers(difference(path, 3, 1), [STEP], SPECS)
    assert not one.covers(difference(path, 3, 0, version=12), [STEP], SPECS)
    assert not one.covers(difference("error_code", 3, 0), [STEP], SPECS)
    assert not one.covers(difference(path, 3, 0), [STEP], ("reference", "reference"))


def test_explained_differences_are_counted_up_to_first_unexplained(tmp_path: Path) -> None:
    count: Counter[str] = Counter()
    told = [difference("responses[0].a", 0, 3), difference("x", 0, 3), difference("y", 0, 3)]
    assert judged(told, [entry(tmp_path)], [STEP], SPECS, count).found == told[1]
    assert count == {"a test": 1}


FIRST, SECOND = {"partition": 0}, {"partition": 1}
WITHOUT_ID = "a topic without an id is fetched, and another partition"


@pytest.mark.parametrize(
    ("topics", "is_true"),
    [
        ([{"partitions": [FIRST]}], False),
        ([{"partitions": [FIRST, FIRST]}], False),
        ([{"partitions": [FIRST, SECOND]}], True),
        ([{"topic_id": "$topic_id:0", "partitions": [FIRST, SECOND]}], False),
        ([{"partitions": [FIRST]}, {"topic_id": "$topic_id:0", "partitions": [FIRST]}], True),
    ],
)
def test_entry_covers_difference_only_under_its_condition(
    tmp_path: Path, topics: Any, is_true: bool
) -> None:
    text = f'[[explained]]\napi = "Fetch"\nfield = "x"\nwhen = "{WITHOUT_ID}"\nreason = "a test"\n'
    one, step = entry(tmp_path, text), ConversationStep("Fetch", 13, {"topics": topics})
    assert one.covers(difference("x", 0, 3, version=13), [step], SPECS) is is_true


@pytest.mark.parametrize(
    ("kinds", "is_true"), [((2, 2), True), ((2, 4), False), ((0, 99), True), ((2, 99), False)]
)
def test_alter_configs_entry_treats_unknown_resource_types_as_one(
    kinds: tuple[int, int], is_true: bool
) -> None:
    resources = [{"resource_type": kind, "resource_name": "$name-a"} for kind in kinds]
    step = ConversationStep("AlterConfigs", 2, {"resources": resources})
    found = Difference(0, "AlterConfigs", 2, "how", ("answered", "silence"))
    assert any(one.covers(found, [step], SPECS) for one in load_explained()) is is_true


@pytest.mark.parametrize(
    ("api", "fields", "is_true"),
    [
        ("Produce", {"topic_data": [{"partition_data": [{"records": None}]}]}, True),
        ("Produce", {"topic_data": [{"partition_data": [{"records": "00"}]}]}, False),
        ("CreateTopics", {"topics": [{"assignments": [{"broker_ids": [1]}]}]}, False),
        ("CreateTopics", {"topics": [{"assignments": [{"broker_ids": [1, 2]}]}]}, True),
        ("CreateTopics", {"topics": [{"assignments": [{}]}]}, True),
        ("ElectLeaders", {"election_type": 2, "topic_partitions": None}, True),
        ("ElectLeaders", {"election_type": 1, "topic_partitions": None}, False),
        ("ElectLeaders", {"election_type": 2, "topic_partitions": []}, False),
    ],
)
def test_faults_of_2_8_are_explained_under_their_conditions(
    api: str, fields: dict[str, Any], is_true: bool
) -> None:
    where = "responses[0].partition_responses[0].error_code" if api == "Produce" else "how"
    found = Difference(0, api, 2, where, ("answered", "silence"))
    specs = ("reference,like=2.8.2", "kafka:2.8.2")
    step = ConversationStep(api, 2, fields)
    assert any(one.covers(found, [step], specs) for one in load_explained()) is is_true
    assert not any(one.covers(found, [step], SPECS) for one in load_explained())


BARE_JOIN = ConversationStep("JoinGroup", 0, {"group_id": "g"})
LONG_NOTE = {"partitions": [{"committed_metadata": "x" * 4097}]}
LONG_COMMIT = ConversationStep("OffsetCommit", 2, {"group_id": "g", "topics": [LONG_NOTE]})


@pytest.mark.parametrize(
    ("steps", "is_true"),
    [
        ([BARE_JOIN, ConversationStep("DescribeGroups", 0, {"groups": ["g"]})], True),
        ([BARE_JOIN, ConversationStep("DescribeGroups", 0, {"groups": ["h"]})], False),
        ([LONG_COMMIT, ConversationStep("ListGroups", 0, {})], True),
        ([LONG_COMMIT, ConversationStep("Heartbeat", 0, {"group_id": "h"})], False),
        ([ConversationStep("DescribeGroups", 0, {"groups": ["g"]})], False),
    ],
)
def test_groups_that_0_10_keeps_are_explained(steps: list[ConversationStep], is_true: bool) -> None:
    found = Difference(len(steps) - 1, steps[-1].api, 0, "groups.group_state", ("Dead", "Empty"))
    specs = ("reference,like=0.10.2.2", "kafka:0.10.2.2")
    assert any(one.covers(found, steps, specs) for one in load_explained()) is is_true


@pytest.mark.parametrize(("record", "is_true"), [({"headers": [["h", "00"]]}, True), ({}, False)])
def test_headers_that_0_11_cannot_convert_are_explained(
    record: dict[str, Any], is_true: bool
) -> None:
    sent = {"topic_data": [{"partition_data": [{"records": [record]}]}]}
    steps = [ConversationStep("Produce", 3, sent), ConversationStep("Fetch", 2, {})]
    found = Difference(1, "Fetch", 2, "responses[0].partitions[0].error_code", (0, -1))
    for release in ("0.11.0.3", "1.1.1"):
        specs = (f"reference,like={release}", f"kafka:{release}")
        is_explained = any(one.covers(found, steps, specs) for one in load_explained())
        assert is_explained is (is_true and release == "0.11.0.3"), release


def test_steps_after_diverging_brokers_are_not_compared(tmp_path: Path) -> None:
    one = entry(tmp_path, ENTRY + 'parts = "a session"\n')
    told = [difference("responses[0].a", 0, 3), difference("x", 0, 3)]
    verdict = judged(told, [one], [STEP, STEP, STEP], SPECS, Counter())
    assert (verdict.found, verdict.compared) == (None, 1)


def test_entry_for_field_covers_nested_fields() -> None:
    assert any(
        one.covers(
            Difference(0, "ApiVersions", 3, "api_keys[4].max_version", (1, 2)), [STEP], SPECS
        )
        for one in load_explained()
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[explained]]\napi = "Fetch"\nfield = "a"', "reason: is missing"),
        (ENTRY + 'feild = "x"\n', "unknown key"),
        (ENTRY + 'when = "it rains"\n', "no name of CONDITIONS"),
        ("[[explaind]]\n", "unknown key"),
    ],
)
def test_malformed_table_raises_explained_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ExplainedError, match=said):
        entry(tmp_path, text)

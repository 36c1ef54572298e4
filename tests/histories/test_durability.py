"""The judge of crashes on histories made by hand: every planted damage is found, alone."""

from __future__ import annotations

from dataclasses import fields
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.histories.durability import COUNTS, Allowance, Survival, judge
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome

P = "producer"
CRASH = ClientOperation("nemesis", OperationOutcome.INFO, ClientAction.FAULT, detail="killed 1")
READ = ClientOperation("reader", OperationOutcome.OK, ClientAction.FINAL_READ)
ANYTHING = {P: Allowance(inf, "no flush")}


def send(value: str, partition: int = 0) -> ClientOperation:
    return ClientOperation(P, OperationOutcome.INVOKE, ClientAction.SEND, partition, value=value)


def told(value: str, offset: int, partition: int = 0) -> ClientOperation:
    return ClientOperation(P, OperationOutcome.OK, ClientAction.SEND, partition, offset, value)


def ended(value: str, outcome: OperationOutcome) -> ClientOperation:
    return ClientOperation(P, outcome, ClientAction.SEND, 0, -1, value)


def polled(value: str, offset: int) -> ClientOperation:
    return ClientOperation("consumer", OperationOutcome.OK, ClientAction.POLL, 0, offset, value)


def log(text: str) -> list[ClientOperation]:
    """A letter stands at the offset that is its position; ``-`` is an offset without a record."""
    return [
        ClientOperation("reader", OperationOutcome.OK, ClientAction.FINAL_READ, 0, offset, value)
        for offset, value in enumerate(text)
        if value != "-"
    ]


def story(before: str, stored: str, behind: str = "") -> list[ClientOperation]:
    """Records acknowledged one after the other, a crash, others from the stored log's end on."""
    history: list[ClientOperation] = []
    for offset, value in enumerate(before):
        history += [send(value), told(value, offset)]
    history.append(CRASH)
    for value in behind:
        history += [send(value), told(value, stored.index(value))]
    return [*history, *log(stored), READ]


def lists_of(survival: Survival) -> dict[str, list[str]]:
    """The values in each list that is not empty."""
    named = {each.name: getattr(survival, each.name) for each in fields(survival)}
    return {
        name: [one.value for one in found]
        for name, found in named.items()
        if isinstance(found, list) and found
    }


def test_log_with_all_acknowledged_records_is_sound() -> None:
    verdict = judge(story("abc", "abcde", "de"), {})
    assert (verdict.broken, verdict.allowed, verdict.survival.acknowledged) == ((), 0, 5)
    assert lists_of(verdict.survival) == {}


@pytest.mark.parametrize(
    ("history", "found"),
    [
        pytest.param(story("abc", "ab"), {"lost": ["c"]}, id="the tail"),
        pytest.param(
            story("abc", "ac"), {"lost": ["b"], "holes": ["b"], "moved": ["c"], "reused": ["b"]},
            id="one in the middle, and all behind it moved",
        ),
        pytest.param(story("abc", "a-c"), {"lost": ["b"], "holes": ["b", "c"]}, id="a hole"),
        pytest.param(story("abc", "abcc"), {"duplicated": ["c"]}, id="one is there twice"),
        pytest.param(
            story("abc", "acb"), {"reordered": ["c"], "moved": ["b", "c"], "reused": ["b", "c"]},
            id="two are changed",
        ),
        pytest.param(story("abc", "abc?"), {"garbage": ["?"]}, id="one that nobody sent"),
        pytest.param(
            story("abc", "abd", "d"), {"lost": ["c"], "reused": ["c"]}, id="its offset is reused",
        ),
        pytest.param(
            [send("x"), ended("x", OperationOutcome.FAIL), *story("abc", "abcx")], {"refused":
            ["x"]}, id="one whose send failed",
        ),
        pytest.param(
            [send("x"), polled("x", 0), CRASH, READ], {"seen_and_lost": ["x"]},
            id="one that only a consumer saw",
        ),
        pytest.param(
            [*story("abc", "abc"), polled("a", 0), polled("?", 1)],
            {"seen_and_lost": ["?"], "garbage": ["?"]}, id="garbage for a consumer",
        ),
        pytest.param(
            [*story("abc", "abc"), polled("a", 0), polled("c", 2)], {"skipped": ["c"]},
            id="a consumer is given nothing of one in the middle",
        ),
        pytest.param([*story("ab", "ab"), polled("b", 1)], {"skipped": ["b"]}, id="or the first"),
    ],
)  # fmt: skip
def test_planted_damage_gives_only_its_own_findings(
    history: list[ClientOperation], found: dict[str, list[str]]
) -> None:
    verdict = judge(history, {})
    assert lists_of(verdict.survival) == found
    assert len(verdict.broken) == len(found)


def test_record_of_other_partition_is_garbage() -> None:
    history = [send("a", partition=1), told("a", 0, partition=1), CRASH, *log("a"), READ]
    assert lists_of(judge(history, {}).survival)["garbage"] == ["a"]


def test_allowed_lost_tail_with_reused_offsets_is_not_broken() -> None:
    verdict = judge(story("abcd", "abxy", "xy"), ANYTHING)
    assert (verdict.broken, verdict.allowed) == ((), 2)
    assert len(verdict.survival.lost) == 2


def test_losses_above_allowance_are_broken() -> None:
    history = story("abcd", "a")
    assert judge(history, {P: Allowance(3)}).broken == ()
    verdict = judge(history, {P: Allowance(2)})
    assert verdict.allowed == 2
    assert [each[:31] for each in verdict.broken] == ["1 acknowledged records are lost"]


def test_allowance_applies_per_partition() -> None:
    other = [send("x", 1), told("x", 0, 1), send("y", 1), told("y", 1, 1)]
    assert judge([*other, *story("ab", "")], {P: Allowance(2)}).broken == ()


@pytest.mark.parametrize("stored", ["acd", "a-cd", "abdc", "abb", "ab?"])
def test_allowance_never_covers_holes_duplicates_and_garbage(stored: str) -> None:
    assert judge(story("abcd", stored), ANYTHING).broken


def test_records_after_crash_do_not_turn_lost_tail_into_hole() -> None:
    assert lists_of(judge(story("abc", "axyz", "xyz"), ANYTHING).survival) == {"lost": ["b", "c"]}


def test_allowed_lost_record_may_have_been_polled() -> None:
    history = [send("a"), told("a", 0), polled("a", 0), CRASH, READ]
    assert judge(history, ANYTHING).broken == ()
    assert len(judge(history, {}).broken) == 2


def test_consumer_may_continue_at_reused_offsets_after_allowed_loss() -> None:
    polls = [polled(value, offset) for offset, value in enumerate("abc")]
    behind = [*story("abc", "abxy", "xy"), polled("y", 3)]
    assert judge([*polls, *behind], ANYTHING).broken == ()
    back = [*story("abc", "axy", "xy"), polled("x", 1), polled("y", 2)]
    assert judge([*polls, *back], ANYTHING).broken == ()


def test_records_of_unknown_sends_may_be_stored_or_absent() -> None:
    unknown = [send("x"), ended("x", OperationOutcome.INFO), send("y"), send("z")]
    verdict = judge([*unknown, *story("ab", "abx")], {})
    assert (verdict.broken, verdict.survival.unknown, verdict.survival.kept) == ((), 3, 1)


def test_counts_table_counts_every_kind_of_damage() -> None:
    survival = judge(story("abcd", "a-db??"), {}).survival
    assert {name: count(survival) for name, count in COUNTS.items() if count(survival)} == {
        "acknowledged": 4, "lost": 1, "holes": 2, "duplicated": 1, "reordered": 1, "moved": 2,
        "reused": 2, "garbage": 2,
    }  # fmt: skip


@given(st.lists(st.sampled_from([
    *(send(v) for v in "ab"), *(told(v, o) for v in "abc" for o in (-1, 0, 1)), ended("a",
    OperationOutcome.FAIL), ended("b", OperationOutcome.INFO), polled("a", 1), polled("c", 0),
    CRASH, *log("ab"), *log("bca"), READ,
]), max_size=20))  # fmt: skip
def test_any_history_gets_verdict_with_bounded_allowed_count(
    history: list[ClientOperation],
) -> None:
    verdict = judge(history, ANYTHING)
    assert 0 <= verdict.allowed <= len(verdict.survival.lost)

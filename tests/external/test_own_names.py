"""Names of ours, and names that only look like them."""

from __future__ import annotations

import time

import pytest

from harness.base.own_names import (
    DEFAULT_PREFIX,
    age_s,
    case_prefix,
    new_nonce,
    prefix_problem,
    sweep_name,
)

NOW_S = 1_760_000_000.0
NONCE = f"{int(NOW_S) - 60:08x}0a1b2c"
CASE = case_prefix(DEFAULT_PREFIX, NONCE, "protocol/test_it.py::test_it[v3]")


@pytest.mark.parametrize(
    "name", [f"{CASE}-1", f"{CASE}-12-kept-3", f"{CASE}-1-a.b.c", f"{CASE}-1xxx", f"{CASE}-2/b\n"]
)
def test_age_of_own_name_is_returned(name: str) -> None:
    assert age_s(name, DEFAULT_PREFIX, NOW_S) == 60


@pytest.mark.parametrize(
    "name",
    [
        *("", "kc-", "kc-orders", "kc-sweep-0123456789ab", "kc-a-topic-that-never-was"),
        *("kc-01234567-89abcdef-1", "kc", "KC-" + CASE.removeprefix("kc-") + "-1"),
        *(CASE, f"{CASE}-", f"{CASE}-0", f"{CASE}-x1", f"x{CASE}-1", f"{CASE}.1"),
        f"kc-{int(NOW_S) + 200_000:08x}0a1b2c-01234567-1",  # a run to come
        "kc-000000010a1b2c-01234567-1",  # one in 1970
        f"{CASE.upper()}-1",
    ],
)
def test_age_of_foreign_name_is_none(name: str) -> None:
    assert age_s(name, DEFAULT_PREFIX, NOW_S) is None


def test_age_is_returned_only_for_same_prefix() -> None:
    mine = case_prefix("team-a.kc_", NONCE, "x") + "-1"
    assert age_s(mine, "team-a.kc_", NOW_S) == 60
    assert age_s(mine, DEFAULT_PREFIX, NOW_S) is None
    assert age_s("team-aXkc_" + mine.removeprefix("team-a.kc_"), "team-a.kc_", NOW_S) is None


def test_new_names_are_younger_than_minute() -> None:
    for name in (case_prefix(DEFAULT_PREFIX, new_nonce(), "x") + "-1", sweep_name()):
        age = age_s(name, DEFAULT_PREFIX, time.time())
        assert age is not None
        assert age < 60


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        ("", "must begin"),
        ("_kc", "must begin"),
        ("a b", "must begin"),
        ("x" * 41, "longer than 40"),
    ],
)
def test_invalid_prefix_has_problem_text(prefix: str, said: str) -> None:
    assert said in (prefix_problem(prefix) or "")
    assert prefix_problem(DEFAULT_PREFIX) is None

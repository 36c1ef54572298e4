"""Patterns that find a reason again in another run, and no other reason."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.reason_pattern import LIMIT_CHARACTERS, pattern_of


@pytest.mark.parametrize(
    ("seen", "later"),
    [
        ("error is NONE (0)", "error is NONE (0)"),
        ("offset 17, expected 3", "offset 4, expected 12"),
        (
            "kc-6740b1c2a93f51-0c3e77d1-2: not there",
            "kc-6740b1c2a93f52-0c3e77d1-11: not there",
        ),
        (
            "id 0e2b5a1c-7b1d-4c1e-9f00-0123456789ab is new",
            "id ffffffff-0000-4c1e-9f00-0123456789ab is new",
        ),
        ("got 00000012deadbeef00 (9 bytes)", "got 00000012deadbeefff (9 bytes)"),
        ("first line 1\nand more", "first line 2\nother"),
    ],
)
def test_pattern_finds_reason_of_other_run(seen: str, later: str) -> None:
    assert re.search(pattern_of([seen]), later)


def test_pattern_does_not_find_other_reasons() -> None:
    pattern = pattern_of(["crc: error is NONE (0)", "magic: closed the connection"])
    assert not re.search(pattern, "length: error is NONE (0)")
    assert not re.search(pattern, "crc: error is UNKNOWN_SERVER_ERROR (-1)")


def test_reasons_that_differ_in_numbers_share_one_alternative() -> None:
    assert pattern_of(["offset 1", "offset 22", "closed"]) == r"^closed|^offset \d+"


def test_pattern_of_no_reason_is_empty() -> None:
    assert pattern_of([]) == pattern_of(["", " \n"]) == ""


@given(st.lists(st.text(min_size=1, max_size=300), max_size=4))
def test_pattern_finds_each_of_its_reasons(reasons: list[str]) -> None:
    pattern = pattern_of(reasons)
    lines = [reason.strip().splitlines()[:1] for reason in reasons]
    assert all(re.search(pattern, line[0].strip()) for line in lines if line)
    assert all(len(each) <= LIMIT_CHARACTERS for each in pattern.split("|") if "\\" not in each)

"""Of what is marked as a sample some is run, the same by everybody."""

from __future__ import annotations

import pytest

from tests.conftest import _left_out

CASES = [f"tests/x.py::test_y[{number}]" for number in range(7)]


@pytest.mark.parametrize(("share", "kept"), [(1, 7), (2, 4), (3, 3), (7, 1), (100, 1)])
def test_one_case_in_so_many_stays_and_at_least_one(share: int, kept: int) -> None:
    left_out = _left_out(CASES, share)
    assert len(left_out) == 7 - kept
    assert set(left_out) <= set(CASES)


def test_the_order_of_the_cases_is_no_matter() -> None:
    assert _left_out(CASES, 3) == _left_out(CASES[::-1], 3)

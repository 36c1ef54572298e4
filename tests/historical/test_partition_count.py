"""Partitions by throughput: exact, also where binary fractions are not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.historical.partition_count import partition_count
from labs.message_values.values import QUICK

RATES = st.fractions(min_value=Fraction(1, 1000), max_value=10**6)


@QUICK
@given(RATES, RATES)
def test_partition_count_is_smallest_for_throughput(expected: Fraction, of_one: Fraction) -> None:
    found = partition_count(expected, of_one)
    assert found * of_one >= expected
    assert found == 1 or (found - 1) * of_one < expected


@pytest.mark.parametrize(("expected", "of_one"), [(-1, 1), (1, 0), (1, -1)])
def test_invalid_throughput_raises_value_error(expected: int, of_one: int) -> None:
    with pytest.raises(ValueError, match="has no meaning"):
        partition_count(expected, of_one)

"""Range assignment: whole, disjoint, in runs, balanced by one, the same in any order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.historical.range_assignment import BrokerPartition, range_assignment
from labs.message_values.values import QUICK

PARTITIONS = st.sets(
    st.builds(BrokerPartition, st.integers(0, 12), st.integers(0, 12)), max_size=40
)
CONSUMERS = st.sets(st.text(min_size=1, max_size=4), min_size=1, max_size=9)


@QUICK
@given(PARTITIONS, CONSUMERS, st.randoms(use_true_random=False))
def test_assignment_is_complete_sorted_balanced_and_order_independent(
    partitions: set[BrokerPartition], consumers: set[str], chance: random.Random
) -> None:
    found = range_assignment(partitions, consumers)
    assert set(found) == consumers
    in_order = [one for consumer in sorted(found) for one in found[consumer]]
    assert in_order == sorted(partitions), "runs of the sorted partitions, one behind the other"
    sizes = [len(found[consumer]) for consumer in sorted(found)]
    assert sizes == sorted(sizes, reverse=True), "the first get what is left"
    assert max(sizes) - min(sizes) <= 1
    shuffled, others = list(partitions), list(consumers)
    chance.shuffle(shuffled)
    chance.shuffle(others)
    assert range_assignment(shuffled, others) == found


def test_partitions_are_sorted_numerically_by_broker() -> None:
    ten, two = BrokerPartition(10, 0), BrokerPartition(2, 0)
    assert range_assignment([ten, two], ["a", "b"]) == {"a": [two], "b": [ten]}
    assert str(ten) == "10-0"


def test_assignment_of_empty_input_is_empty_and_duplicates_are_refused() -> None:
    assert range_assignment([], []) == {}
    assert range_assignment([], ["a"]) == {"a": []}
    with pytest.raises(ValueError, match="1 partitions and no consumer"):
        range_assignment([0], [])
    with pytest.raises(ValueError, match="partition 3 is named twice"):
        range_assignment([3, 1, 3], ["a"])
    with pytest.raises(ValueError, match="consumer a is named twice"):
        range_assignment([3], ["a", "b", "a"])

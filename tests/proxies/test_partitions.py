"""Broken directions between nodes, by the name of the partition."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.proxies.direction import Direction
from harness.proxies.partitions import (
    CLIENT,
    HalfLink,
    NetworkPartition,
    PartitionError,
    asymmetric,
    bridge,
    isolate_leader,
    isolate_one,
    ring,
    split,
    symmetric,
)

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


def unheard(partition: NetworkPartition) -> set[str]:
    return {f"{speaker}>{hearer}" for speaker, hearer in partition.unheard}


def pairs(*words: str) -> set[str]:
    """``1-2``: neither receives from the other."""
    both = (word.split("-") for word in words)
    return {text for one, other in both for text in (f"{one}>{other}", f"{other}>{one}")}


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        (symmetric([1, 2, 3]), pairs("1-2", "1-3")),
        (symmetric([1, 2, 3, 4]), pairs("1-3", "1-4", "2-3", "2-4")),
        (symmetric([1, 2], clients=True), pairs("1-2", "1-client")),
        (split([1], [2], ["client"]), pairs("1-2", "1-client", "2-client")),
        (asymmetric(1, 2), {"2>1"}),
        (asymmetric(1, [1, 2, 3]), {"2>1", "3>1"}),
        (ring([1, 2, 3]), {"3>1", "1>2", "2>3"}),
        (ring([1, 2, 3, 4]), pairs("1-3", "2-4")),
        (ring("abcde"), pairs("a-c", "a-d", "b-d", "b-e", "c-e")),
        (bridge([1, 2, 3]), pairs("1-3")),
        (bridge([1, 2, 3], over=1), pairs("2-3")),
        (
            bridge([1, 2, 3, 4, 5], clients=True),
            pairs("1-4", "1-5", "2-4", "2-5", "1-client", "2-client"),
        ),
        (isolate_one(2, [1, 2, 3]), pairs("1-2", "2-3")),
        (
            isolate_one(2, [1, 3, "controller"], clients=True),
            pairs("1-2", "2-3", "2-controller", "2-client"),
        ),
        (isolate_leader(3, [1, 2, 3]), pairs("1-3", "2-3")),
        (isolate_leader(lambda: 1, [1, 2]), pairs("1-2")),
    ],
)
def test_partition_blocks_expected_pairs(partition: NetworkPartition, expected: set[str]) -> None:
    assert unheard(partition) == expected


@given(st.integers(3, 12))
def test_each_ring_node_receives_from_distinct_majority(count: int) -> None:
    names = [str(number) for number in range(count)]
    grudge = ring(names).grudge
    heard = {frozenset(names) - grudge.get(name, frozenset()) for name in names}
    assert {len(each) for each in heard} == {count // 2 + 1}
    assert len(heard) == count
    assert all(name not in deaf_to for name, deaf_to in grudge.items())


@given(st.integers(3, 12), st.data())
def test_bridge_node_is_cut_from_no_other_node(count: int, data: st.DataObject) -> None:
    over = data.draw(st.integers(0, count - 1))
    partition = bridge(range(count), over=over)
    assert str(over) not in partition.nodes
    assert len(partition.nodes) == count - 1


def test_blocked_direction_cuts_one_request_and_one_response_half_link() -> None:
    assert asymmetric(1, 2).half_links == {HalfLink("2", "1", UP), HalfLink("1", "2", DOWN)}
    assert len(symmetric([1, 2]).half_links) == 4


def test_union_of_opposite_asymmetric_partitions_is_symmetric() -> None:
    both = asymmetric(1, 2) | asymmetric(2, 1)
    assert both.unheard == symmetric([1, 2]).unheard
    assert both.grudge == {"1": {"2"}, "2": {"1"}}
    assert both.nodes == {"1", "2"}
    assert CLIENT not in both.nodes


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: symmetric([1]), "needs 2 nodes, here are 1"),
        (lambda: ring([1, 2]), "a ring partition needs 3 nodes"),
        (lambda: bridge([1, 2, 3], over=4), "the bridge 4 is none of 1, 2, 3"),
        (lambda: symmetric([1, 2, "1"]), "named more than once: 1"),
        (lambda: split([1, 2], [2]), "named more than once: 2"),
        (lambda: isolate_one(1, [1]), "two groups"),
        (lambda: asymmetric(1, [1]), "nobody whom 1"),
    ],
)
def test_invalid_partition_raises_partition_error(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(PartitionError, match=says):
        make()


@pytest.mark.parametrize(("count", "answered"), [(3, 0), (4, 8), (5, 10)])
def test_ring_partition_leaves_expected_number_of_uncut_links(count: int, answered: int) -> None:
    """Of three nodes each pair is connected one way only."""
    links = set(permutations(map(str, range(count)), 2))
    cut = {(half.source, half.destination) for half in ring(range(count)).half_links}
    assert len(links - cut) == answered

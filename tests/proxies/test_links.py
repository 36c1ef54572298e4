"""The matrix of links: groups of links to one and to many nodes, cuts that overlap."""

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.proxies.direction import Direction
from harness.proxies.links import ActivePartition, Links, UnknownLink
from harness.proxies.partitions import (
    NetworkPartition,
    asymmetric,
    bridge,
    isolate_one,
    ring,
    symmetric,
)

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
BOTH = {UP, DOWN}
BROKERS = ["1", "2", "3"]
T = TypeVar("T")


class FakeProxy:
    """A proxy that knows its cut directions."""

    def __init__(self) -> None:
        self.dark: set[Direction] = set()
        self.told = 0

    def cut(self, direction: Direction | None = None) -> None:
        self.told += 1
        self.dark |= BOTH if direction is None else {direction}

    def heal(self, direction: Direction | None = None) -> None:
        self.told += 1
        self.dark -= BOTH if direction is None else {direction}


class Matrix:
    """Three brokers, a controller and clients, and the count of calls to the loop."""

    def __init__(self) -> None:
        pairs = [(source, to) for source in BROKERS for to in [*BROKERS, "controller"]]
        pairs += [("client", to) for to in BROKERS]
        self.calls = 0
        self.links = Links({pair: FakeProxy() for pair in pairs}, self._run)

    def _run(self, work: Callable[[], T], /) -> T:
        self.calls += 1
        return work()

    def dark(self) -> dict[str, set[Direction]]:
        """The cut directions, as the proxies report them."""
        return {str(link): link.proxy.dark for link in self.links.values() if link.proxy.dark}


@pytest.fixture
def matrix() -> Matrix:
    return Matrix()


def test_cut_and_heal_of_one_link_affect_that_link_only(matrix: Matrix) -> None:
    link = matrix.links["2", "1"]
    assert link is matrix.links[2, 1]
    assert not link.is_cut
    link.cut()
    assert matrix.links[2, 1].is_cut
    assert matrix.dark() == {"2->1": BOTH}
    link.heal()
    assert link.cut_directions == set()
    assert matrix.dark() == {}


def test_cut_of_one_direction_keeps_other_direction_open(matrix: Matrix) -> None:
    link = matrix.links[2, 1]
    link.cut(DOWN)
    assert link.cut_directions == {DOWN}
    assert matrix.dark() == {"2->1": {DOWN}}
    link.cut(UP)
    assert link.cut_directions == BOTH
    matrix.links.heal()
    assert matrix.dark() == {}


def test_link_call_runs_function_with_its_proxy(matrix: Matrix) -> None:
    assert matrix.links[2, 1].call(lambda proxy: proxy.told) == 0
    assert matrix.calls == 1


def test_link_groups_exclude_link_of_broker_to_itself(matrix: Matrix) -> None:
    links = matrix.links
    assert list(map(str, links.from_(1))) == ["1->2", "1->3", "1->controller"]
    assert list(map(str, links.to(1))) == ["2->1", "3->1", "client->1"]
    assert list(map(str, links.between(1, "2"))) == ["1->2", "2->1"]
    assert len(links.to("controller")) == 3
    links.to(1).cut()
    assert matrix.calls == 1
    assert matrix.dark() == {"2->1": BOTH, "3->1": BOTH, "client->1": BOTH}
    links[2, 1].heal()
    links.to(1).heal()
    assert matrix.dark() == {}


def test_links_list_brokers_nodes_and_pairs(matrix: Matrix) -> None:
    assert matrix.links.brokers == BROKERS
    assert matrix.links.nodes == [*BROKERS, "controller"]
    assert len(matrix.links) == 15
    assert ("1", "9") not in matrix.links
    assert ("1", "2") in matrix.links


def test_partition_cuts_its_links_and_heals_them_at_exit(matrix: Matrix) -> None:
    with matrix.links.partition(isolate_one(1, matrix.links.nodes, clients=True)) as active:
        assert matrix.calls == 1
        assert list(map(str, active.links)) == [
            "1->2", "1->3", "1->controller", "2->1", "3->1", "client->1",
        ]  # fmt: skip
        assert set(matrix.dark()) == set(map(str, active.links))
    assert matrix.dark() == {}


def test_asymmetric_partition_cuts_one_direction_per_link(matrix: Matrix) -> None:
    matrix.links.partition(asymmetric(1, 2))
    assert matrix.dark() == {"2->1": {UP}, "1->2": {DOWN}}


def test_heal_of_one_partition_keeps_cuts_of_overlapping_ones(matrix: Matrix) -> None:
    links = matrix.links
    first = links.partition(bridge(BROKERS))
    second = links.partition(isolate_one(3, BROKERS))
    links[1, 3].cut(UP)
    first.heal()
    assert set(matrix.dark()) == {"1->3", "2->3", "3->1", "3->2"}
    second.heal()
    second.heal()
    assert matrix.dark() == {"1->3": {UP}}
    links[1, 3].heal()
    assert matrix.dark() == {}


def test_heal_of_all_links_ends_every_cut_and_partition(matrix: Matrix) -> None:
    active = matrix.links.partition(ring(BROKERS))
    matrix.links[1, 2].cut()
    matrix.links.heal()
    assert matrix.dark() == {}
    active.heal()
    assert matrix.dark() == {}


def test_proxy_is_called_only_for_changed_directions(matrix: Matrix) -> None:
    link = matrix.links[1, 2]
    link.cut()
    link.cut()
    active = matrix.links.partition(asymmetric(1, 2))
    assert link.proxy.told == 1
    link.heal()
    assert link.proxy.told == 2
    assert matrix.dark()["1->2"] == {DOWN}
    active.heal()
    assert link.proxy.told == 3


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda links: links["1", "zookeeper"], "no link has an end 'zookeeper'; the ends: 1, 2"),
        (lambda links: links["1", "contoller"], 'did you mean "controller"'),
        (lambda links: links["controller", "1"], "controller has links to nobody"),
        (lambda links: links["client", "controller"], "client has links to 1, 2, 3"),
        (lambda links: links.from_("controller"), "controller has no such link"),
        (lambda links: links.between("client", "controller"), "client has no such link"),
        (lambda links: links.partition(isolate_one(1, [2, 4])), "no link has an end '4'"),
        (
            lambda links: links.partition(asymmetric("client", "controller")),
            "there is no link that the partition asymmetric would cut",
        ),
    ],
)
def test_unknown_link_raises_error_and_cuts_no_link(
    matrix: Matrix, ask: Callable[[Links[FakeProxy]], object], says: str
) -> None:
    with pytest.raises(UnknownLink, match=says):
        ask(matrix.links)
    assert matrix.dark() == {}


SHAPES = [
    symmetric(BROKERS), symmetric(BROKERS, clients=True), ring(BROKERS), bridge(BROKERS),
    isolate_one(2, [*BROKERS, "controller"]), asymmetric(1, 2), asymmetric(2, [1, 3]),
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(SHAPES), st.integers(0, 8)), max_size=12))
def test_cut_links_equal_union_of_active_partitions(
    steps: list[tuple[NetworkPartition, int]],
) -> None:
    """Partitions begun and ended in any order, against the union of those that are left."""
    matrix = Matrix()
    active: list[ActivePartition[FakeProxy]] = []
    for shape, number in steps:
        if number < len(active):
            active.pop(number).heal()
        else:
            active.append(matrix.links.partition(shape))
        wanted: dict[str, set[Direction]] = {}
        for half in {half for each in active for half in each.partition.half_links}:
            if (half.source, half.destination) in matrix.links:
                wanted.setdefault(f"{half.source}->{half.destination}", set()).add(half.direction)
        assert matrix.dark() == wanted

"""In which order tests begin, and which of them one worker gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from harness.runner import marks
from harness.runner.broker_request import Use
from harness.runner.run_order import TESTS_A_CLUSTER, group_of, groups_of, turn_of
from harness.runner.scheduling import TOGETHER, units_of
from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)


class Marked:
    """Stands for a collected test with these marks."""

    def __init__(self, nodeid: str, *decorators: Callable[[Any], Any]) -> None:
        def test() -> None: ...

        for decorate in decorators:
            decorate(test)
        self.nodeid = nodeid
        self._marks = {mark.name: mark for mark in getattr(test, "pytestmark", [])}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self._marks.get(name)


def marked(nodeid: str, *decorators: Callable[[Any], Any]) -> pytest.Item:
    return cast("pytest.Item", Marked(nodeid, *decorators))


def test_private_brokers_come_first_and_equal_settings_are_adjacent() -> None:
    kinds = {
        "plain": (),
        "own": (marks.needs_broker(Use.OWN),),
        "often": (marks.needs_broker(Use.TUNED, {"a": "1"}),),
        "seldom": (marks.needs_broker(Use.TUNED, {"a": "2"}),),
        "often too": (marks.needs_broker(Use.TUNED, {"a": "1"}),),
        "kept": (marks.needs_broker(Use.PERSISTENT),),
        "cluster": (marks.needs_broker(Use.CLUSTER),),
    }
    items = [marked(name, *decorators) for name, decorators in kinds.items()]
    ordered = [item.nodeid for item in sorted(items, key=turn_of)]
    assert ordered == ["cluster", "often", "often too", "seldom", "kept", "own", "plain"]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (
            marks.needs_broker(Use.TUNED, {"a": "1", "b": "2"}),
            marks.needs_broker(Use.TUNED, {"b": "2", "a": "1"}),
            True,
        ),
        (
            marks.needs_broker(Use.TUNED, {"a": "1"}),
            marks.needs_broker(Use.TUNED, {"a": "2"}),
            False,
        ),
        (marks.needs_broker(Use.JOINABLE), marks.needs_broker(Use.JOINABLE), True),
        (
            marks.needs_broker(Use.JOINABLE, {"a": "1"}),
            marks.needs_broker(Use.JOINABLE, {"a": "1"}),
            False,
        ),
        (marks.needs_broker(Use.JOINABLE), marks.needs_broker(Use.DISPOSABLE), False),
        (marks.needs_broker(Use.PERSISTENT), marks.needs_broker(Use.PERSISTENT), False),
        (marks.needs_broker(Use.OWN), marks.needs_broker(Use.OWN), False),
        (
            marks.needs_broker(Use.CLUSTER, nodes=4),
            marks.needs_broker(Use.CLUSTER, links=True),
            True,
        ),
    ],
)
def test_tests_that_share_broker_have_same_group(
    one: Callable[[Any], Any], other: Callable[[Any], Any], together: bool
) -> None:
    groups = [group_of(marked("first", one)), group_of(marked("second", other))]
    assert all(groups)
    assert (groups[0] == groups[1]) == together
    assert group_of(marked("third")) == ""


def test_cluster_tests_are_split_into_parallel_groups_only_if_light() -> None:
    plain, linked = marks.needs_broker(Use.CLUSTER), marks.needs_broker(Use.CLUSTER, links=True)
    items = [marked(f"plain {number}", plain) for number in range(TESTS_A_CLUSTER + 1)]
    items += [
        marked("linked", linked),
        marked("broker", marks.needs_broker(Use.OWN)),
        marked("none"),
    ]
    heavy = groups_of(items, clusters_are_light=False)
    assert list(heavy) == [item.nodeid for item in items[:-1]]
    assert len(set(heavy.values())) == 2
    light = groups_of(items, clusters_are_light=True)
    assert light.keys() == heavy.keys()
    together = [list(light.values()).count(group) for group in dict.fromkeys(light.values())]
    assert together == [TESTS_A_CLUSTER, 1, 1, 1]


def test_tests_without_group_are_assigned_in_chunks_per_file() -> None:
    cases = [f"{file}::test[{number}]" for file in "ab" for number in range(TOGETHER + 1)]
    units = units_of([*cases, "a::private"], {"a::private": "group"})
    sizes = [list(units.values()).count(unit) for unit in dict.fromkeys(units.values())]
    assert sizes == [TOGETHER, 1, TOGETHER, 1, 1]
    assert units["a::private"] == "group"


def test_each_group_runs_in_single_worker(suite: SmallSuite, tmp_path: Path) -> None:
    suite.write(
        f"""
        import os

        def note(name):
            with open({str(tmp_path / "workers")!r}, "a") as file:
                file.write(os.environ["PYTEST_XDIST_WORKER"] + " " + name + "\\n")

        @judges("CONN-001")
        @pytest.mark.parametrize("number", range(20))
        def test_plain(number): note("plain")

        @judges("CONN-001")
        @needs_broker(Use.TUNED, {{"a": "1"}})
        @pytest.mark.parametrize("number", range(5))
        def test_often(number): note("often")

        @judges("CONN-001")
        @needs_broker(Use.TUNED, {{"a": "2"}})
        @pytest.mark.parametrize("number", range(5))
        def test_seldom(number): note("seldom")
        """
    ).run("-n", "2", "--dist", "load")
    seen = [line.split() for line in (tmp_path / "workers").read_text().splitlines()]
    assert len(seen) == 30
    for group in ("often", "seldom"):
        assert len({worker for worker, name in seen if name == group}) == 1

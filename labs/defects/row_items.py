"""Selection of a row's tests: those that judge what it watches, and meet what it strikes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

import pytest

from harness.runner.case_selection import is_offline, judged
from labs.defects.defect import Where

OWN_BROKERS = ("own_broker", "tuned_broker", "joined_broker", "kept_broker")
"""Marks of the tests with a private broker."""
PRIVATE_CLUSTER = "private_cluster"
LENT = ("tuned_broker", "joined_broker", "discarded_broker", PRIVATE_CLUSTER)
"""Marks of the tests that may get a private broker, or cluster, that other tests had before."""
CLUSTER_SUITES = ("suites/replication", "suites/durability/private")
Wanted = Callable[[pytest.Item], bool]


def has_mark(item: pytest.Item, *names: str) -> bool:
    """True if a test has one of these marks."""
    return any(item.get_closest_marker(name) for name in names)


def is_lent(item: pytest.Item) -> bool:
    """True if a test may get a broker that others had before.

    A broker with settings in ``joined_broker`` is for that test alone.
    """
    joined = item.get_closest_marker("joined_broker")
    return has_mark(item, *LENT) and not (joined and joined.args[0])


def _every(item: pytest.Item) -> bool:
    return True


def _of_own_brokers(item: pytest.Item) -> bool:
    return has_mark(item, *OWN_BROKERS)


def _of_private_clusters(item: pytest.Item) -> bool:
    return has_mark(item, PRIVATE_CLUSTER)


_OF_ONE: Mapping[Where, Wanted] = {
    Where.SHARED: _every,
    Where.PRIVATE: _of_own_brokers,
    Where.OFFLINE: is_offline,
    Where.BUILT_IN: _every,
}
_OF_CLUSTER: Mapping[Where, Wanted] = {
    Where.SHARED: _every,
    Where.PRIVATE: _of_private_clusters,
    Where.BUILT_IN: _of_private_clusters,
}


def items_of(
    items: Sequence[pytest.Item], where: Where, watched: Sequence[str], *, is_cluster: bool
) -> list[pytest.Item]:
    """The tests of a row for one broker, or for a cluster.

    ``watched``: patterns of requirements; none means all.
    """
    wants = (_OF_CLUSTER if is_cluster else _OF_ONE)[where]
    return [item for item in items if wants(item) and _judges(item, watched)]


def _judges(item: pytest.Item, watched: Sequence[str]) -> bool:
    if not watched:
        return True
    return any(fnmatchcase(name, glob) for name in judged(item) for glob in watched)

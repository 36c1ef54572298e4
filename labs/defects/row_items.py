"""Selection of a row's tests: those that judge what it watches, and meet what it strikes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

import pytest

from harness.runner.broker_request import Use, request_of
from harness.runner.case_selection import is_offline, judged
from labs.defects.defect import Where

_OWN = frozenset({Use.OWN, Use.TUNED, Use.JOINABLE, Use.PERSISTENT})
"""Uses of a private broker that a row strikes."""
CLUSTER_SUITES = ("suites/replication", "suites/durability/private")
Wanted = Callable[[pytest.Item], bool]


def is_pooled(item: pytest.Item) -> bool:
    """True if a test may get a private broker, or cluster, that other tests had before."""
    request = request_of(item)
    return request.is_pooled or request.use is Use.CLUSTER


def _every(item: pytest.Item) -> bool:
    return True


def _of_own_brokers(item: pytest.Item) -> bool:
    return request_of(item).use in _OWN


def _of_private_clusters(item: pytest.Item) -> bool:
    return request_of(item).use is Use.CLUSTER


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


def ends_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The same tests, in an order that notices most defects early.

    First the last case of each function, which has the newest version of an API, then the first
    cases, then the others: a run that ends at its first failed check does not make all cases of
    one function before it begins the function that notices the defect.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    last = [of_one[-1] for of_one in cases.values()]
    first = [of_one[0] for of_one in cases.values()]
    return list(dict.fromkeys([*last, *first, *items]))


def _judges(item: pytest.Item, watched: Sequence[str]) -> bool:
    if not watched:
        return True
    return any(fnmatchcase(name, glob) for name in _judged_once(item) for glob in watched)


@cache
def _judged_once(item: pytest.Item) -> tuple[str, ...]:
    """Return the result of `judged`, which each row needs of all tests of the session."""
    return judged(item)

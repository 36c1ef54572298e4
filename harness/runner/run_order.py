"""In which order tests begin, and which of them one process runs.

Tests with private brokers wait longest, so they begin first, beside tests that mostly compute.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

_RANKS = (
    "private_cluster",
    "joined_broker",
    "discarded_broker",
    "tuned_broker",
    "kept_broker",
    "own_broker",
)
"""Marks, in the order in which their tests begin; tests without any of them begin last."""
_LENT = frozenset({"joined_broker", "discarded_broker", "tuned_broker"})
"""Their tests share one broker with equal settings."""
TESTS_A_CLUSTER = 4
"""The size of a group of tests with light private clusters: small, so that all processes end at
about the same time."""


def _mark_of(item: pytest.Item) -> tuple[int, pytest.Mark | None]:
    """The first mark of :data:`_RANKS` that the test has, with its rank."""
    for rank, name in enumerate(_RANKS):
        if mark := item.get_closest_marker(name):
            return rank, mark
    return len(_RANKS), None


def turn_of(item: pytest.Item) -> tuple[int, str]:
    """By this key tests are sorted; those with equal settings stand together."""
    rank, mark = _mark_of(item)
    return rank, "" if mark is None else json.dumps(mark.args, sort_keys=True)


def group_of(item: pytest.Item) -> str:
    """Tests of one group run in one process, one after the other; "" for any process.

    All tests with private clusters are one group, so that there is never more than one such
    cluster unless clusters are light (:func:`groups_of`). Tests that share a private broker are
    one group too. Any other test with a private broker is a group of its own.
    """
    _, mark = _mark_of(item)
    if mark is None:
        return ""
    if mark.name == "private_cluster":
        return mark.name
    own_settings = mark.name == "joined_broker" and bool(mark.args and mark.args[0])
    if mark.name in _LENT and not own_settings:
        return f"{mark.name} {json.dumps(mark.args, sort_keys=True)}"
    return item.nodeid


def groups_of(items: Sequence[pytest.Item], *, clusters_are_light: bool) -> Mapping[str, str]:
    """Node id -> group of the tests that have one.

    Where clusters are light, tests with private clusters form many groups, each with equal
    settings, so that every process can run a cluster of its own.
    """
    groups: dict[str, str] = {}
    seen = Counter[str]()
    for item in items:
        group = group_of(item)
        if group == "private_cluster" and clusters_are_light:
            kind = f"{group} {turn_of(item)[1]}"
            group = f"{kind} {seen[kind] // TESTS_A_CLUSTER}"
            seen[kind] += 1
        if group:
            groups[item.nodeid] = group
    return groups

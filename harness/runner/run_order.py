"""In which order tests begin, and which of them one process runs.

Tests with private brokers wait longest, so they begin first, beside tests that mostly compute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from harness.runner.broker_request import Use, request_of

_RANKS = {use: rank for rank, use in enumerate(Use)}
TESTS_A_CLUSTER = 4
"""The size of a group of tests with light private clusters: small, so that all processes end at
about the same time."""


def turn_of(item: pytest.Item) -> tuple[int, str]:
    """By this key tests are sorted; those with equal requests stand together."""
    request = request_of(item)
    return _RANKS[request.use], request.key


def group_of(item: pytest.Item) -> str:
    """Tests of one group run in one process, one after the other; "" for any process.

    All tests with private clusters are one group, so that there is never more than one such
    cluster unless clusters are light (:func:`groups_of`). Tests that share a private broker are
    one group too. Any other test with a private broker is a group of its own.
    """
    request = request_of(item)
    if not request.is_private:
        return ""
    if request.use is Use.CLUSTER:
        return request.use
    return request.key if request.is_pooled else item.nodeid


def groups_of(items: Sequence[pytest.Item], *, clusters_are_light: bool) -> Mapping[str, str]:
    """Node id -> group of the tests that have one.

    Where clusters are light, tests with private clusters form many groups, each with equal
    settings, so that every process can run a cluster of its own.
    """
    groups: dict[str, str] = {}
    seen = Counter[str]()
    for item in items:
        group = group_of(item)
        if group == Use.CLUSTER and clusters_are_light:
            kind = turn_of(item)[1]
            group = f"{kind} {seen[kind] // TESTS_A_CLUSTER}"
            seen[kind] += 1
        if group:
            groups[item.nodeid] = group
    return groups

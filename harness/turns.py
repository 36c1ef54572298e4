"""In which order tests begin, and which of them one process runs.

Tests with private brokers wait longest, so they begin first, beside tests that mostly compute.
"""

from __future__ import annotations

import json

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
    cluster; so are those that share a private broker. Any other test with a private broker is a
    group of its own.
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

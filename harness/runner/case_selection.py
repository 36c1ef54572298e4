"""Selection of the collected cases: those that the options request and the target can be asked."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

import pytest

from harness.conformance.catalogue import load_catalogue
from harness.runner.broker_request import Use, request_of
from harness.runner.marks import PRIVATE
from harness.targets.info import TargetInfo


def judged(item: pytest.Item) -> tuple[str, ...]:
    """The requirements that a test declares to judge."""
    mark = item.get_closest_marker("judges")
    return tuple(mark.args) if mark else ()


def is_offline(item: pytest.Item) -> bool:
    """True if a test sends nothing to a broker."""
    return item.get_closest_marker("offline") is not None


def problems_of(items: Sequence[pytest.Item]) -> list[str]:
    """Return a sentence for each error in the marks of these tests."""
    known = load_catalogue().requirements
    problems = []
    for item in items:
        ids = judged(item)
        if not ids:
            problems.append(f"{item.nodeid} does not say which requirement it judges")
        problems += [
            f"{item.nodeid} judges {name}, which is not in the catalogue"
            for name in ids
            if name not in known
        ]
        if is_offline(item) and "broker" in getattr(item, "fixturenames", ()):
            problems.append(f"{item.nodeid} asks a broker although it is marked offline")
        places = " or ".join(PRIVATE)
        is_private = request_of(item).use is Use.CLUSTER
        if is_private and not item.nodeid.startswith(PRIVATE):
            problems.append(f"{item.nodeid} has a private cluster and is not below {places}")
    return problems


def chosen(
    items: list[pytest.Item], globs: Sequence[str], info: TargetInfo | None
) -> list[pytest.Item]:
    """Those that judge a requirement of ``globs`` (all, when there are none).

    ``info``: the target, None when nothing is going to run. Of what is no broker only offline
    tests are asked. Raises UsageError when that leaves nothing.
    """
    kept = items
    if globs:
        kept = [i for i in items if any(fnmatch.fnmatch(r, g) for r in judged(i) for g in globs)]
        if not kept:
            raise pytest.UsageError(f"no test judges a requirement that matches {' '.join(globs)}")
    if info is None or info.is_broker:
        return kept
    offline = [item for item in kept if is_offline(item)]
    if kept and not offline:
        raise pytest.UsageError(f"{info.spec} is no broker, and all of these tests ask one")
    return offline

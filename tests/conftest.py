"""A sample of tests of which there are very many or which take long; ``--deep`` runs them all."""

from __future__ import annotations

from zlib import crc32

import pytest


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.import_plugin("tests.time_limits")
    parser.addoption(
        "--deep", action="store_true", help="Every case, also of tests of which a sample is run."
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the cases of each test, class or file marked ``sample(N)`` one in N stays, at least one,
    of a test marked ``deep`` none.

    Which, depends on the cases' names alone: every worker draws the same, and so does the next run.
    """
    if config.getoption("deep") or any("::" in argument for argument in config.args):
        return
    groups: dict[tuple[str, int], list[str]] = {}
    for item in items:
        for node, mark in item.iter_markers_with_node("sample"):
            where = item.nodeid.split("[")[0] if node is item else node.nodeid
            groups.setdefault((where, int(mark.args[0])), []).append(item.nodeid)
    left_out = {one for (_, share), cases in groups.items() for one in _left_out(cases, share)}
    left_out |= {item.nodeid for item in items if item.get_closest_marker("deep")}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = [item for item in items if item.nodeid not in left_out]


def _left_out(cases: list[str], share: int) -> list[str]:
    drawn = sorted(cases, key=lambda name: crc32(name.encode()))
    return drawn[-(-len(cases) // share) :]

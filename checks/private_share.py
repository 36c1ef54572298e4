"""A pytest plugin: of the suites' tests with brokers of their own a share runs, drawn by a word."""

from __future__ import annotations

import pytest

from checks.draw import number_of
from harness.runner.run_order import group_of


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("private-share", "a sample of the tests with brokers of their own")
    group.addoption("--private-share", type=int, default=1, help="One in so many runs.")
    group.addoption("--private-draw", default="", help="The word that chooses them.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All cases of a test function stay, or none: the brokers are what costs."""
    share, draw = config.getoption("private_share"), config.getoption("private_draw")
    left_out = [item for item in items if group_of(item) and not is_drawn(item, share, draw)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def is_drawn(item: pytest.Item, share: int, draw: str) -> bool:
    """The same in every worker: it follows from the names alone."""
    function = item.nodeid.split("[")[0]
    return number_of(f"{draw} {function}") % share == 0

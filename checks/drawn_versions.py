"""A pytest plugin: of the versions between the ends of a range, one in N for each test function.

The word of ``--versions-drawn-by`` decides which, so that another commit asks others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

from checks.draw import left_out
from harness.codec.apis import Api
from harness.runner.case_parameters import api_of, ends_of_case


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("versions", "a drawn part of the versions")
    group.addoption("--one-version-in", type=int, default=1, metavar="N",
                    help="Of the versions between the ends of a range run one in N.")  # fmt: skip
    group.addoption("--versions-drawn-by", default="", metavar="WORD", help="Another draws others.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep cases without a version, the ends of each range, and a share of the others."""
    word, share = config.getoption("versions_drawn_by"), config.getoption("one_version_in")
    gone = {item for cases in _between(items) for item in _not_drawn(cases, word, share)}
    config.hook.pytest_deselected(items=[item for item in items if item in gone])
    items[:] = [item for item in items if item not in gone]


def _between(items: list[pytest.Item]) -> Iterable[dict[pytest.Item, str]]:
    """Return the cases of each function and API between the ends, with function and version."""
    groups: dict[tuple[str, Api], dict[pytest.Item, int]] = defaultdict(dict)
    for item in items:
        api, version = api_of(item)
        if api is not None and version is not None:
            groups[item.nodeid.split("[")[0], api][item] = version
    for (function, _), versions in groups.items():
        ends = ends_of_case(next(iter(versions)))
        yield {item: f"{function}\n{v}" for item, v in versions.items() if v not in ends}


def _not_drawn(cases: dict[pytest.Item, str], word: str, share: int) -> Iterable[pytest.Item]:
    gone = left_out(cases.values(), share, word)
    return (item for item, name in cases.items() if name in gone)

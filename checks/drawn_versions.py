"""A pytest plugin: of the versions between the ends of a range, one in N for each test function.

The draw of ``--draw`` decides which, so that another commit asks others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from checks.draw import number_of
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
    gone = {item for cases in _between(items) for item in _left_out(cases, word, share)}
    config.hook.pytest_deselected(items=[item for item in items if item in gone])
    items[:] = [item for item in items if item not in gone]


def _between(items: list[pytest.Item]) -> Iterator[dict[pytest.Item, int]]:
    """Yield the cases of each function and API between the ends, with their versions."""
    groups: dict[tuple[str, Api], dict[pytest.Item, int]] = defaultdict(dict)
    for item in items:
        api, version = api_of(item)
        if api is not None and version is not None and version not in ends_of_case(item):
            groups[item.nodeid.split("[")[0], api][item] = version
    yield from groups.values()


def _left_out(cases: dict[pytest.Item, int], word: str, share: int) -> Iterator[pytest.Item]:
    first = next(iter(cases))
    where = first.nodeid.split("[")[0]
    drawn = sorted(set(cases.values()), key=lambda v: number_of(f"{word}\n{where}\n{v}"))
    kept = set(drawn[: -(-len(drawn) // share)])
    yield from (item for item, version in cases.items() if version not in kept)

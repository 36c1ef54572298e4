"""A pytest plugin: of the collected files those of one slice, ``--slice 2/4``.

``--sliced FOLDER`` cuts only what is below this folder; all other files stay.
"""

from __future__ import annotations

import pytest

from checks.draw import number_of


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("slice", "one of several parts of the tests")
    group.addoption("--slice", default="1/1", metavar="K/N", help="The K-th of N parts.")
    group.addoption(
        "--sliced", action="append", metavar="FOLDER", help="Cut this folder only; may be repeated."
    )
    group.addoption("--functions", action="store_true", help="Cut files too, between functions.")


def slice_of(text: str) -> tuple[int, int]:
    """``2/4`` as numbers. Raises UsageError for anything else."""
    number, _, count = text.partition("/")
    if number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count):
        return int(number), int(count)
    raise pytest.UsageError(f"--slice takes K/N with 1 <= K <= N, such as 2/4, not {text!r}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A file stays whole, so that its fixtures are made once; a function does in any case."""
    number, count = slice_of(config.getoption("slice"))
    end = "[" if config.getoption("functions") else "::"
    folders = tuple(f"{name.rstrip('/')}/" for name in config.getoption("sliced") or ())

    def is_kept(item: pytest.Item) -> bool:
        if folders and not item.nodeid.startswith(folders):
            return True
        return number_of(item.nodeid.split(end)[0]) % count == number - 1

    kept = [item for item in items if is_kept(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept

"""A pytest plugin: of the collected files those of one slice, ``--slice 2/4``.

``--sliced FOLDER`` cuts only what is below this folder; all other files stay.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.draw import number_of
from harness.runner.judging_files import is_test_file


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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of other slices before they are imported."""
    if not is_test_file(collection_path) or config.getoption("functions"):
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    return None if _is_kept(config, name) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A file stays whole, so that its fixtures are made once; a function does in any case."""
    end = "[" if config.getoption("functions") else "::"
    kept = {item: _is_kept(config, item.nodeid.split(end)[0]) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not kept[item]])
    items[:] = [item for item in items if kept[item]]


def _is_kept(config: pytest.Config, name: str) -> bool:
    """``name``: of a file or of a function, from the root of the project."""
    number, count = slice_of(config.getoption("slice"))
    folders = tuple(f"{folder.rstrip('/')}/" for folder in config.getoption("sliced") or ())
    if folders and not name.startswith(folders):
        return True
    return number_of(name) % count == number - 1

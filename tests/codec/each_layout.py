"""One test that makes a check of many layouts, goes on after a failure, and names all that failed.

A pytest case for each layout would spend more time in pytest than in the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeVar

import pytest

from harness.codec.structs import Message
from labs.message_values.values import CLASSES, class_name
from tests.codec.checked_layouts import due

SHOWN_CHARACTERS = 200

T = TypeVar("T")
Case = tuple[str, Callable[[], None]]
Test = Callable[[pytest.FixtureRequest], None]
CheckClass = Callable[[type[Message]], None]
CheckVersion = Callable[[type[Message], int], None]


def check_each(cases: Iterable[Case]) -> None:
    """Make all checks; then fail with a line for each case that failed, caused by the first."""
    count, failed = 0, list[tuple[str, BaseException]]()
    for name, check in cases:
        count += 1
        try:
            check()
        except (Exception, pytest.fail.Exception) as error:
            failed.append((name, error))
    assert count, "no case to check"
    if failed:
        lines = [f"  {name}: {_first_line(error)}" for name, error in failed]
        text = "\n".join([f"{len(failed)} of {count} cases failed:", *lines])
        raise AssertionError(text) from failed[0][1]


def _first_line(error: BaseException) -> str:
    line = str(error).partition("\n")[0][:SHOWN_CHARACTERS]
    return f"{type(error).__name__}: {line}"


def each_class(check: CheckClass) -> Test:
    """Check every message, in its newest layout and in each older one."""
    return _test(check, lambda config: _classes(check, CLASSES))


def each_version(check: CheckVersion) -> Test:
    """Check every version of every layout."""
    return _test(check, lambda config: _versions(check, CLASSES))


def each_due_class(check: CheckClass) -> Test:
    """Check the layouts that are due: for what takes long."""
    return _test(check, lambda config: _classes(check, due(config)))


def each_due_version(check: CheckVersion) -> Test:
    """Check every version of the layouts that are due: for what takes long."""
    return _test(check, lambda config: _versions(check, due(config)))


def each_of(values: Mapping[str, T]) -> Callable[[Callable[[T], None]], Test]:
    """Check each value; its key is its name."""

    def decorated(check: Callable[[T], None]) -> Test:
        cases = [(name, partial(check, value)) for name, value in values.items()]
        return _test(check, lambda config: cases)

    return decorated


def _test(check: Callable[..., None], cases: Callable[[pytest.Config], Iterable[Case]]) -> Test:
    def test(request: pytest.FixtureRequest) -> None:
        check_each(cases(request.config))

    test.__doc__ = check.__doc__
    return test


def _classes(check: CheckClass, classes: Iterable[type[Message]]) -> Iterator[Case]:
    for cls in classes:
        yield class_name(cls), partial(check, cls)


def _versions(check: CheckVersion, classes: Iterable[type[Message]]) -> Iterator[Case]:
    for cls in classes:
        for version in cls.message_spec.valid:
            yield f"{class_name(cls)} v{version}", partial(check, cls, version)

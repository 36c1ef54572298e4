"""Starts that may fail by chance, and are then tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.targets.errors import TargetStartError

ATTEMPTS = 5
T = TypeVar("T")


class StartAgain(Exception):
    """A start failed by chance (a port was taken meanwhile, say): another attempt may succeed."""


def until_started(called: str, attempt: Callable[[], T], clear: Callable[[], None]) -> T:
    """Return the result of ``attempt``, which is repeated after StartAgain.

    ``clear`` removes the remains of a failed attempt. Raises TargetStartError when every attempt
    failed by chance; any other error of an attempt is raised at once.
    """
    reason: StartAgain | None = None
    for _ in range(ATTEMPTS):
        try:
            return attempt()
        except StartAgain as problem:
            clear()
            reason = problem
        except BaseException:
            clear()
            raise
    raise TargetStartError(f"{called}: {ATTEMPTS} starts failed: {reason}") from reason

"""The calls of a wrong function that go wrong: a few, so that clients get on meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Callable

SELDOM = 5
"""One of so many goes wrong."""
EARLY = 2
"""So many go wrong where every one leaves something open that only later ones can end."""


def seldom() -> Callable[[], bool]:
    """Return a function that is true for one call of some."""
    numbers = itertools.count(1)
    return lambda: next(numbers) % SELDOM == 0


def early() -> Callable[[], bool]:
    """Return a function that is true for the first calls."""
    numbers = itertools.count(1)
    return lambda: next(numbers) <= EARLY

"""A check whose statement promises that the broker does what most tests only prepare."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.errors import PreparationFailed


@contextmanager
def refusal_judged() -> Iterator[None]:
    """Inside, a refused preparation is a failure of the broker. Raises AssertionError."""
    try:
        yield
    except PreparationFailed as refused:
        raise AssertionError(str(refused)) from refused

"""The one element that an answer must have where the request asked for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from harness.client.errors import WireViolation

T = TypeVar("T")


def only(found: Sequence[T] | None, what: str) -> T:
    """The only element of a list within an answer; ``what`` names its elements, in the singular.

    Raises WireViolation when there is none, or more than one: the broker was asked about one.
    """
    if found is None or len(found) != 1:
        count = "null" if found is None else len(found)
        raise WireViolation(f"one {what} was asked for, the answer has {count}")
    return found[0]

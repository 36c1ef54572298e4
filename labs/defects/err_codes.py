"""Defects of the table of error codes, area ERR."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from labs.defects.defect import wrong

FIRST_OF_0_8 = 5


@wrong("ERR-001", r"LEADER_NOT_AVAILABLE is 6, published as 5", "harness.codec.error_code",
       "ErrorCode")  # fmt: skip
def a_new_code_stands_in_the_middle(right: type[IntEnum]) -> Any:
    """A new code is inserted between the old ones, and all later ones move by one."""
    moved = {one.name: one.value + (one.value >= FIRST_OF_0_8) for one in right}
    enum: Any = IntEnum  # a type checker wants the members as they are written
    return enum("ErrorCode", moved)


DEFECTS = [a_new_code_stands_in_the_middle]

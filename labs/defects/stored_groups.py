"""Defects of area COORD: the built-in broker stores groups in wrong partitions."""

from __future__ import annotations

from collections.abc import Callable

from labs.defects.defect import wrong_in_broker

Hash = Callable[[str], int]


@wrong_in_broker("COORD-006", r"partition \d has no record of it",
                 "state.groups.group_log", "java_hash")  # fmt: skip
def groups_are_spread_by_their_length(_: Hash) -> Hash:
    """The length of a group's id selects its partition of the offsets topic."""
    return len


@wrong_in_broker("COORD-006", r"partition \d has no record of it",
                 "state.groups.group_log", "java_hash")  # fmt: skip
def the_least_hash_is_its_own_positive(java_hash: Hash) -> Hash:
    """A group with the least hash, which has no positive counterpart, has it without its sign."""

    def unsigned(text: str) -> int:
        is_least = java_hash(text) == 0 and text != ""
        return 1 << 31 if is_least else java_hash(text)

    return unsigned


DEFECTS = [groups_are_spread_by_their_length, the_least_hash_is_its_own_positive]

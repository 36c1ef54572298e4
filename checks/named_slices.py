"""The slices that a command line names: ``fuzz`` is all of a part, ``fuzz:2/6`` one of it."""

from __future__ import annotations

from collections.abc import Sequence

from checks.part import Part, Slice


class UnknownPart(ValueError):
    """No such part or slice; the message lists what there is."""


def named_slices(parts: Sequence[Part], names: Sequence[str]) -> list[Slice]:
    """In the order of the table; all when nothing is named.

    Raises UnknownPart.
    """
    every = [Slice(part, number) for part in parts for number in range(1, part.slices + 1)]
    for name in names:
        if name not in {part.name for part in parts} | {one.name for one in every}:
            raise UnknownPart(_problem(parts, name))
    if not names:
        return every
    return [one for one in every if one.part.name in names or one.name in names]


def _problem(parts: Sequence[Part], name: str) -> str:
    part = next((part for part in parts if part.name == name.partition(":")[0]), None)
    if part is None:
        return f"no part {name!r}; there are: {', '.join(part.name for part in parts)}"
    if part.slices == 1:
        return f"no slice {name!r}: the part {part.name} has no slices"
    return f"no slice {name!r}; there are {part.name}:1/{part.slices} and so on"

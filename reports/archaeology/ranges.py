"""Columns in few words: `0.11.0.3..4.4.0 2.8.2/zk`, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from .history import DateAgreement, ReleaseCell, ReleaseColumn, RequirementHistory, State


def ranges(columns: Sequence[ReleaseColumn], wanted: Collection[int]) -> tuple[str, ...]:
    """The wanted columns (by number) as releases and ranges of releases, in their order.

    A release without a mode stands for all its columns; a range for all releases between its ends
    that are columns at all.
    """
    there: dict[str, list[int]] = {}
    for number, column in enumerate(columns):
        there.setdefault(column.release, []).append(number)
    found: list[list[str]] = []
    goes_on = False
    for release, numbers in there.items():
        held = [number for number in numbers if number in wanted]
        if len(held) < len(numbers):
            found += [[columns[number].name] for number in held]
            goes_on = False
        elif goes_on:
            found[-1] = [found[-1][0], release]
        else:
            found.append([release])
            goes_on = True
    return tuple("..".join(ends) for ends in found)


def where(
    row: RequirementHistory, columns: Sequence[ReleaseColumn], test: Callable[[ReleaseCell], bool]
) -> tuple[str, ...]:
    """Return `ranges` of the columns with a cell that passes a test."""
    return ranges(columns, {at for at, cell in enumerate(row.cells) if test(cell)})


def of_state(row: RequirementHistory, columns: Sequence[ReleaseColumn], state: State) -> str:
    """Where it is so, in few words; empty when nowhere."""
    return " ".join(where(row, columns, lambda cell: cell.state is state))


WHAT_CONTRADICTS = {
    State.HOLDS: "holds outside of its dates",
    State.BROKEN: "does not hold, though promised",
    State.ABSENT: "is not there, though promised",
}


def contradictions(
    row: RequirementHistory, columns: Sequence[ReleaseColumn]
) -> Iterable[tuple[str, str, str]]:
    """(what, where, an example of why) of everything in which the dates are contradicted."""
    for state, what in WHAT_CONTRADICTS.items():
        at = {
            number
            for number, cell in enumerate(row.cells)
            if cell.state is state and cell.agreement is DateAgreement.CONTRADICTS
        }
        if at:
            reasons = [reason for number in sorted(at) for reason in row.cells[number].reasons]
            yield what, " ".join(ranges(columns, at)), reasons[0] if reasons else ""

"""Cases that have changed their names: results of an earlier version are read under the present
ones.

The table has a line for each test, ``old<TAB>new``, without the parameters in brackets. A test that
changed its name twice has two lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.conformance.journal import Journal

_HEADING = "old\tnew"


class RenamesError(ValueError):
    """The table of renamed cases is wrong; the message says in which line."""


def read_renames(file: Path) -> Mapping[str, str]:
    """Return old name -> present name.

    Raises:
        RenamesError: a line that is not ``old<TAB>new``, an old name twice, or a circle.
        OSError: the file cannot be read.
    """
    heading, *lines = file.read_text("utf-8").splitlines()
    if heading != _HEADING:
        raise RenamesError(f"{file}:1: expected the heading {_HEADING!r}, found {heading!r}")
    steps: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        old, tab, new = line.partition("\t")
        if not (old and tab and new) or "\t" in new:
            raise RenamesError(f"{file}:{number}: expected old<TAB>new, found {line!r}")
        if old in steps:
            raise RenamesError(f"{file}:{number}: {old} has two new names")
        steps[old] = new
    return {old: _last(steps, old, file) for old in steps}


def _last(steps: Mapping[str, str], old: str, file: Path) -> str:
    seen = {old}
    new = steps[old]
    while new in steps:
        if new in seen:
            raise RenamesError(f"{file}: {old} leads back to itself")
        seen.add(new)
        new = steps[new]
    return new


def present_name(case: str, renames: Mapping[str, str]) -> str:
    """Return the name that a case has now; its parameters stay."""
    test, bracket, parameters = case.partition("[")
    return renames.get(test, test) + bracket + parameters


def with_present_names(journal: Journal, renames: Mapping[str, str]) -> Journal:
    """Return the journal with the present names of its cases."""
    return replace(
        journal,
        plan=tuple(replace(one, case=present_name(one.case, renames)) for one in journal.plan),
        checks=tuple(replace(one, case=present_name(one.case, renames)) for one in journal.checks),
    )

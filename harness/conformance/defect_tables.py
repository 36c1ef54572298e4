"""Proofs from the defect tables beside a run's results; docs/results.md has their form."""

from __future__ import annotations

import json
from pathlib import Path

_VERSION = 1


class DefectTableError(ValueError):
    """A folder without tables, or a file that is none."""


def proved_in(folder: Path) -> frozenset[str]:
    """The requirements with a defect that their own check has killed, in any table of the folder.

    Raises DefectTableError, with what to do.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise DefectTableError(
            f"{folder} has no defect table; this command writes one: "
            f"kafka-conformance lab defects --out {folder}"
        )
    return frozenset(name for file in files for name in _killed(file))


def _killed(file: Path) -> list[str]:
    try:
        table = json.loads(file.read_text("utf-8"))
        if table["schema_version"] == _VERSION:
            return [str(row["requirement"]) for row in table["defects"] if row["killed"] is True]
        said = f"its schema version is {table['schema_version']}, not {_VERSION}"
    except (OSError, ValueError, TypeError, KeyError) as problem:
        said = f"it is not readable: {problem!r}"
    raise DefectTableError(f"{file} is no defect table ({said}): make it again")

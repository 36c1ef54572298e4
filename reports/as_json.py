"""`matrix.json`: the matrix for other programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from .matrix import AreaCount, Matrix, Row


def matrix_json(matrix: Matrix) -> str:
    """The matrix as JSON text; the same matrix always gives the same bytes.

    Keys: `targets`; `requirements` with `id`, `area`, `level`, `statement`, `verdicts` (target to
    verdict; a target that has no check of the requirement is left out) and `parts` (target to
    list of `case`, `api_version`, `verdict`); `areas`; `runs`; `incomplete` (ids of runs that did
    not come to their end).
    """
    document = {
        "targets": list(matrix.targets),
        "incomplete": list(matrix.incomplete),
        "requirements": [_requirement(row) for row in matrix.rows],
        "areas": [_area(area) for area in matrix.areas],
        "runs": [asdict(run) for run in matrix.runs],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _requirement(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "area": row.area,
        "level": row.level,
        "statement": row.statement,
        "verdicts": {target: cell.verdict for target, cell in row.cells.items()},
        "parts": {
            target: [
                {"case": part.case, "api_version": part.api_version, "verdict": part.verdict}
                for part in cell.parts
            ]
            for target, cell in row.cells.items()
        },
    }


def _area(area: AreaCount) -> dict[str, Any]:
    return asdict(area)

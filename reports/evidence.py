"""The evidence of failed cases, brought from the runs to the report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from .dataset import Dataset
from .matrix import Matrix

EVIDENCE_FOLDER: Final = "evidence"
RUNS_FOLDER: Final = "runs"

Evidence = Mapping[tuple[str, str], str]
"""Run and path (as a note names it, relative to the run's folder) to the file's text."""


def read_evidence(matrix: Matrix, datasets: Iterable[Dataset]) -> dict[tuple[str, str], str]:
    """The evidence files that the notes of `matrix` name and that still lie beside the results."""
    homes = {run.run: dataset.home for dataset in datasets for run in dataset.runs}
    found: dict[tuple[str, str], str] = {}
    for run, path in dict.fromkeys(_named(matrix)):
        runs = (homes[run] / RUNS_FOLDER).resolve()
        folder = (runs / run).resolve()
        file = (folder / path).resolve()
        # What a results file names must not bring other files of this machine into a report.
        if folder.parent == runs and file.is_relative_to(folder) and file.is_file():
            found[run, path] = file.read_text("utf-8", "replace")
    return found


def evidence_path(run: str, path: str) -> str:
    """Where the report keeps it, relative to the page."""
    return "/".join((EVIDENCE_FOLDER, _file_name(run), _file_name(Path(path).name)))


def write_evidence(evidence: Evidence, folder: Path) -> None:
    """Writes each text into `folder`, at its `evidence_path`."""
    for (run, path), text in evidence.items():
        file = folder / evidence_path(run, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")


def _file_name(text: str) -> str:
    return re.sub(r"^\.|[^\w.-]", "_", text, flags=re.ASCII)


def _named(matrix: Matrix) -> Iterable[tuple[str, str]]:
    counted = {target: run.run for target, run in matrix.counted_runs.items()}
    for row in matrix.rows:
        for target, cell in row.cells.items():
            for part in cell.parts:
                for note in part.notes:
                    if note.evidence:
                        yield counted[target], note.evidence

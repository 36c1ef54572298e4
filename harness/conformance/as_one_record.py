"""``as-one/RUN.json`` of an output folder: runs that ``run --as-one`` judged as one broker.

RUN is the first of them. A report joins their columns while each of them is the newest run of its
target.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER_NAME = "as-one"


class AsOneRecordError(ValueError):
    """A file among the records holds something else; the text names it."""


@dataclass(frozen=True, slots=True)
class AsOneRecord:
    """``broker``: the target without its set-up; ``runs``: ids, in the order of the command."""

    broker: str
    runs: Sequence[str]

    def write(self, out: Path) -> None:
        """Write it below the folder of ``run --out``, over an earlier one of the same first run."""
        folder = out / FOLDER_NAME
        folder.mkdir(exist_ok=True)
        (folder / f"{self.runs[0]}.json").write_text(json.dumps(asdict(self)), "utf-8")


def as_one_records(results: Path) -> list[AsOneRecord]:
    """Read the records of an output folder, or of its ``results/``, the oldest first.

    Raises AsOneRecordError.
    """
    home = results.parent if results.name == "results" else results
    return [_read(file) for file in sorted((home / FOLDER_NAME).glob("*.json"))]


def _read(file: Path) -> AsOneRecord:
    try:
        found = json.loads(file.read_text("utf-8"))
        record = AsOneRecord(str(found["broker"]), [str(run) for run in found["runs"]])
        if not record.runs:
            raise ValueError("it names no run")
    except (KeyError, TypeError, ValueError) as error:
        raise AsOneRecordError(
            f"{file}: no record of runs that were judged as one ({error}); take it away"
        ) from error
    return record

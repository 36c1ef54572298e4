"""All tables of a report, from the same files as Spark reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..beside import FAULTS, HISTORIES, WIRE, ReportedDataset, defect_tables
from ..dataset import Dataset
from ..given import Wording, given_rows
from ..schema import COLUMNS
from ..verdicts import refuse_unknown_verdicts
from . import side_tables
from .api_versions import api_versions
from .histories import histories
from .judged import areas, counts_of, requirements, runs
from .rows import Row, of_runs, read_rows


def light_tables(datasets: Sequence[Dataset], wording: Wording) -> Mapping[str, list[Row]]:
    """The rows of each table of ``reports.aggregate``.

    Raises ReportError when a verdict is not one of the seven, or when what lies beside the results
    has another form.
    """
    files = [run.file for dataset in datasets for run in dataset.runs]
    checks = read_rows(files, [column.name for column in COLUMNS])
    unknown = {(row["run"], row["verdict"]) for row in checks}
    refuse_unknown_verdicts(unknown, ", ".join(str(dataset.root) for dataset in datasets))
    given = given_rows(datasets, wording, defects=())
    made_runs = runs(checks)
    counts = counts_of(made_runs)
    judged = requirements(checks, made_runs, wording.statements)
    names = {row["api_key"]: row["api_name"] for row in given["api_names"]}

    def beside(kind: ReportedDataset) -> list[Row]:
        columns = [name for name, _ in kind.columns]
        return of_runs(read_rows(kind.files(datasets), columns), counts)

    return {
        "runs": made_runs,
        "requirements": judged,
        "areas": areas(judged),
        "api_versions": api_versions(checks, given["advertised"], counts, wording.decoding, names),
        "wire": side_tables.wire(beside(WIRE)),
        "faults": side_tables.faults(beside(FAULTS)),
        "histories": histories(beside(HISTORIES)),
        "defects": side_tables.defects(defect_tables(datasets)),
    }

"""``kafka-conformance report``: the matrix of all runs in some folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from harness.conformance.catalogue import load_catalogue
from harness.conformance.found_runs import ResultsNotFound
from harness.conformance.parquet import ResultsError, ensure_parquet
from harness.conformance.wire_parquet import ensure_wire_parquet
from harness.java import JavaError, spark_java_home

INCOMPLETE = 3


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...",
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the report."
)
@click.option("--master", default="local[*]", show_default=True, help="Where Spark runs.")
def report(folders: tuple[Path, ...], out: Path, master: str) -> None:
    """Write requirement x target and area x target for the runs in DIR...

    Parquet, matrix.json, matrix.md and index.html. For each target its newest run counts.

    \b
    Exit codes: 0 written, 2 wrong usage or nothing to report, 3 written, but a run is incomplete.
    """
    from reports.build import build_report
    from reports.errors import ReportError

    try:
        unreadable = [entry for folder in folders for entry in ensure_parquet(folder).unreadable]
        unreadable += [
            entry for folder in folders for entry in ensure_wire_parquet(folder).unreadable
        ]
        os.environ["JAVA_HOME"] = str(spark_java_home().home)
        statements = {r.id: r.statement for r in load_catalogue().requirements.values()}
        paths = build_report(list(folders), out, master, statements=statements)
    except (ReportError, ResultsError, ResultsNotFound, JavaError) as error:
        raise click.UsageError(str(error)) from error
    click.echo(paths.html)
    incomplete = [*paths.incomplete, *(f"{path}: {why}" for path, why in unreadable)]
    for run in incomplete:
        click.echo(f"incomplete: {run}", err=True)
    sys.exit(INCOMPLETE if incomplete else 0)

"""``kafka-conformance report``: the matrix of all runs in some folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from click.core import ParameterSource

from harness.commands.reported_runs import (
    INCOMPLETE,
    UNREADABLE,
    folders_argument,
    left_out,
    reported_runs,
    wording_of,
)
from harness.targets.java import JavaError, spark_java_home


@click.command()
@folders_argument
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the report.",
)
@click.option("--master", default="local[*]", show_default=True, help="Where Spark runs.")
@click.option(
    "--light",
    is_flag=True,
    help="Aggregate without Spark and Java, and write no Parquet: for a few runs.",
)
def report(folders: tuple[Path, ...], out: Path, master: str, light: bool) -> None:
    """Write the compatibility matrix of the runs in DIR...

    Requirements, areas and API versions by target, injected faults, defects, coverage of the wire:
    index.html (one page), matrix.md (a CI summary), junit.xml, matrix.json with its schema,
    Parquet, evidence.
    For each target its newest run counts.

    \b
    Exit codes: 0 written, 2 wrong usage or nothing to report, 3 written, but a run is incomplete.
    """
    from reports.build import build_report
    from reports.errors import ReportError

    context = click.get_current_context()
    if light and context.get_parameter_source("master") is not ParameterSource.DEFAULT:
        raise click.UsageError("--light starts no Spark: leave --light or --master out")
    try:
        runs = reported_runs(folders)
        if not light:
            os.environ["JAVA_HOME"] = str(spark_java_home().home)
        paths = build_report(list(folders), out, master, wording=wording_of(runs), light=light)
    except (ReportError, JavaError, *UNREADABLE) as error:
        raise click.UsageError("\n".join([str(error), *left_out(folders)])) from error
    click.echo(paths.html)
    incomplete = [*paths.incomplete, *runs.unreadable]
    for run in incomplete:
        click.echo(f"incomplete: {run}", err=True)
    sys.exit(INCOMPLETE if incomplete else 0)

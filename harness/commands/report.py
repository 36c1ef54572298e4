"""``kafka-conformance report``: the matrix of all runs in some folders."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from harness.base.bundle import suites_root
from harness.codec.apis import APIS
from harness.codec.unknown_apis import name_of_unknown
from harness.conformance.as_one_record import AsOneRecordError, as_one_records
from harness.conformance.catalogue import load_catalogue
from harness.conformance.fault_journal import FAULTS
from harness.conformance.found_runs import ResultsNotFound, find_runs
from harness.conformance.headline import Headline
from harness.conformance.history_journal import HISTORIES
from harness.conformance.joined_runs import joined
from harness.conformance.journal import Journal
from harness.conformance.mutation_score import the_score
from harness.conformance.observed import the_observed
from harness.conformance.parquet import ensure_parquet
from harness.conformance.results import RESULTS, ResultsError
from harness.conformance.run_headline import headline_of
from harness.conformance.summary import RunSummary, summarize
from harness.conformance.wire import WIRE
from harness.targets.java import JavaError, spark_java_home

if TYPE_CHECKING:
    from reports.headlines import ReportedHeadline
    from reports.joined_columns import JudgedAsOne

INCOMPLETE = 3
DECODING = "CONN-025"  # the sweep: every answer has the format of its version, nothing behind it


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...",
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
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
    from reports.given import Wording
    from reports.mutant_matrix import ReportedMutants

    context = click.get_current_context()
    if light and context.get_parameter_source("master") is not ParameterSource.DEFAULT:
        raise click.UsageError("--light starts no Spark: leave --light or --master out")
    try:
        runs = {run.header.run: summarize(run) for run in _newest_runs(folders)}
        converted = [(RESULTS, folder) for folder in folders]
        converted += [(one, folder) for folder in folders for one in (WIRE, FAULTS, HISTORIES)]
        unreadable = [
            entry for one, folder in converted for entry in ensure_parquet(one, folder).unreadable
        ]
        if not light:
            os.environ["JAVA_HOME"] = str(spark_java_home().home)
        wording = Wording(
            statements={r.id: r.statement for r in load_catalogue().requirements.values()},
            api_names={api.key: api.name for api in APIS.values()},
            name_of_unknown_api=name_of_unknown,
            decoding=frozenset({DECODING}),
            observed=_observed(),
            headlines={
                run: _reported(headline_of(one, suites_root())) for run, one in runs.items()
            },
            as_one=_as_one(folders, runs),
            mutants=[ReportedMutants(*astuple(one)) for one in the_score()],
        )
        paths = build_report(list(folders), out, master, wording=wording, light=light)
    except (ReportError, ResultsError, ResultsNotFound, JavaError, AsOneRecordError) as error:
        raise click.UsageError("\n".join([str(error), *_unreadable(folders)])) from error
    click.echo(paths.html)
    incomplete = [*paths.incomplete, *(f"{path}: {why}" for path, why in unreadable)]
    for run in incomplete:
        click.echo(f"incomplete: {run}", err=True)
    sys.exit(INCOMPLETE if incomplete else 0)


def _reported(found: Headline) -> ReportedHeadline:
    from reports.headlines import ReportedGroup, ReportedHeadline

    groups = [ReportedGroup(*one) for one in found.not_judged]
    counts = (found.requirements, found.judged, found.musts, found.musts_passed)
    return ReportedHeadline(*counts, tuple(groups))


def _as_one(folders: tuple[Path, ...], runs: Mapping[str, RunSummary]) -> list[JudgedAsOne]:
    """The runs that were judged as one broker and are all among ``runs``, summaries by id."""
    from reports.joined_columns import JudgedAsOne

    return [
        JudgedAsOne(
            one.broker,
            tuple(one.runs),
            _reported(headline_of(joined([runs[run] for run in one.runs]), suites_root())),
        )
        for folder in folders
        for one in as_one_records(folder)
        if all(run in runs for run in one.runs)
    ]


def _newest_runs(folders: tuple[Path, ...]) -> Iterator[Journal]:
    for folder in folders:
        with contextlib.suppress(ResultsNotFound):  # the report says so
            yield from find_runs(folder).newest_by_target().values()


def _observed() -> dict[str, str]:
    found = the_observed()
    return {
        name: "; ".join(f"{state.replace('_', ' ')} {at}" for state, at in words.items())
        for name in found.states
        if (words := found.words(name))
    }


def _unreadable(folders: tuple[Path, ...]) -> Iterator[str]:
    """Why runs are left out: the likely cause when nothing is there to be reported."""
    for folder in folders:
        with contextlib.suppress(ResultsNotFound, OSError):
            yield from (f"left out: {why}" for _, why in find_runs(folder).unreadable)

"""The runs of some folders for a report or a site, with the words that results do not carry."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from harness.base.bundle import suites_root
from harness.codec.apis import APIS
from harness.codec.unknown_apis import name_of_unknown
from harness.conformance.as_one_record import AsOneRecordError, as_one_records
from harness.conformance.catalogue import load_catalogue
from harness.conformance.fault_journal import FAULTS
from harness.conformance.found_runs import FoundRuns, ResultsNotFound, find_runs
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

if TYPE_CHECKING:
    from reports.given import Wording
    from reports.headlines import ReportedHeadline
    from reports.joined_columns import JudgedAsOne

DECODING: Final = "CONN-025"
"""The sweep: every answer has the format of its version, nothing behind it."""
INCOMPLETE: Final = 3
"""The exit code where the output is written, but a run is incomplete."""
folders_argument = click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="DIR...",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
"""The folders with results, at least one."""
UNREADABLE: Final = (AsOneRecordError, ResultsError, ResultsNotFound)
"""The errors of a folder with results, each with its cause in words."""


@dataclass(frozen=True, slots=True)
class ReportedRuns:
    """The runs in some folders, converted to Parquet.

    Attributes:
        folders: as given, each with `found`.
        found: by folder, its runs; a folder without any is left out, and the report says so.
        unreadable: why a file could not be converted, a line each.
    """

    folders: tuple[Path, ...]
    found: Mapping[Path, FoundRuns]
    unreadable: tuple[str, ...]

    @property
    def newest(self) -> dict[str, RunSummary]:
        """By id, of each folder and target the run that counts."""
        newest = [run for one in self.found.values() for run in one.newest_by_target().values()]
        return {run.header.run: summarize(run) for run in newest}

    @property
    def by_target(self) -> dict[str, list[Journal]]:
        """All runs of a target, the oldest first; of a run in two folders one."""
        by_id = {run.header.run: run for one in self.found.values() for run in one.runs}
        made: dict[str, list[Journal]] = {}
        for run in sorted(by_id.values(), key=lambda run: run.order):
            made.setdefault(run.header.target, []).append(run)
        return made


def reported_runs(folders: Sequence[Path]) -> ReportedRuns:
    """Find the runs and make their missing Parquet. Raises an error of `UNREADABLE`, OSError."""
    found = {}
    for folder in folders:
        with contextlib.suppress(ResultsNotFound):  # the report says so
            found[folder] = find_runs(folder)
    converted = [(RESULTS, folder) for folder in folders]
    converted += [(one, folder) for folder in folders for one in (WIRE, FAULTS, HISTORIES)]
    unreadable = [
        f"{path}: {why}"
        for one, folder in converted
        for path, why in ensure_parquet(one, folder).unreadable
    ]
    return ReportedRuns(tuple(folders), found, tuple(unreadable))


def wording_of(runs: ReportedRuns) -> Wording:
    """The words of the catalogue, and the headlines of the runs. Raises AsOneRecordError."""
    from reports.given import Wording
    from reports.mutant_matrix import ReportedMutants

    newest = runs.newest
    return Wording(
        statements={r.id: r.statement for r in load_catalogue().requirements.values()},
        api_names={api.key: api.name for api in APIS.values()},
        name_of_unknown_api=name_of_unknown,
        decoding=frozenset({DECODING}),
        observed=_observed(),
        headlines={run: _reported(headline_of(one, suites_root())) for run, one in newest.items()},
        as_one=_as_one(runs.folders, newest),
        mutants=[ReportedMutants(*astuple(one)) for one in the_score()],
    )


def left_out(folders: Sequence[Path]) -> Iterator[str]:
    """The reason of each run that is left out: the likely cause when there is nothing to report."""
    for folder in folders:
        with contextlib.suppress(ResultsNotFound, OSError):
            yield from (f"left out: {why}" for _, why in find_runs(folder).unreadable)


def _reported(found: Headline) -> ReportedHeadline:
    from reports.headlines import ReportedGroup, ReportedHeadline

    groups = [ReportedGroup(*one) for one in found.not_judged]
    counts = (found.requirements, found.judged, found.musts, found.musts_passed)
    return ReportedHeadline(*counts, tuple(groups))


def _as_one(folders: Sequence[Path], runs: Mapping[str, RunSummary]) -> list[JudgedAsOne]:
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


def _observed() -> dict[str, str]:
    found = the_observed()
    return {
        name: "; ".join(f"{state.replace('_', ' ')} {at}" for state, at in words.items())
        for name in found.states
        if (words := found.words(name))
    }

"""``kafka-conformance lab defects --target SPEC``: run the defect table and write it down.

Exit 0: every defect is killed and every judged MUST has one; 1: not so; 2: usage; 128 + N: it was
ended by signal N.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import click
from rich.console import Console

from harness.conformance.summary import RunSummary
from harness.targets.errors import TargetError
from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.baseline import UnfitBaseline, read_baseline
from labs.defects.chosen_rows import RowSlice, has_several_nodes, sampled, strikes
from labs.defects.defect import Defect
from labs.defects.ended_by_signal import EndedBySignal, signals_raise
from labs.defects.row_queue import JudgedRow, NeverClean
from labs.defects.row_session import CollectionFailed
from labs.defects.row_unit import RowUnseen
from labs.defects.table_run import TableRequest, TableRun


def _slice(context: click.Context, parameter: click.Parameter, text: str | None) -> RowSlice | None:
    del context, parameter
    try:
        return None if text is None else RowSlice.parse(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


@dataclass(frozen=True, slots=True)
class TableProgress:
    """Prints each row as it is decided."""

    console: Console
    asked: TableRequest

    def __call__(self, defect: Defect, judged: JudgedRow) -> None:
        if isinstance(judged.found, RowUnseen):
            return
        problem = judged.found.problem
        mark = f"NOT KILLED ({problem})" if problem else "killed"
        mark += f", at first: {judged.first_problem}" if judged.first_problem else ""
        mark += f"; repeat: {self._repeat(defect)}" if problem else ""
        self.show(f"{defect.requirement} {defect.name}: {mark}")

    def show(self, text: str) -> None:
        """Print the text unchanged."""
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def _repeat(self, defect: Defect) -> str:
        """The command that runs this row again, and all others of its requirement."""
        asked = self.asked
        words = ["kafka-conformance", "lab", "defects", "--target", asked.spec]
        words += ["--requirement", defect.requirement]
        words += ["--versions", asked.versions, "--scope", asked.scope]
        if asked.alone is not None and defect.name not in asked.alone:
            words += ["--alone", "0"]
        words += ["--built-in"] if defect.built_in else ["--on-the-wire"]
        return shlex.join(words)


@click.command()
@click.option("--target", default="reference", help="The broker behind the defects.")
@click.option("--requirement", "globs", default=("*",), show_default=True, multiple=True,
              help="Only defects of these requirements; may be repeated.")  # fmt: skip
@click.option("--joined", is_flag=True,
              help="Only defects of brokers that virtual ones join.")  # fmt: skip
@click.option("--built-in/--on-the-wire", default=None,
              help="Only wrong functions of the built-in broker, or all but those.")  # fmt: skip
@click.option("--jobs", default=2, show_default=True, help="Defects at the same time.")
@click.option("--versions", type=click.Choice(["all", "ends"]), default="ends", show_default=True,
              help="At which versions the suites run under each defect.")  # fmt: skip
@click.option("--scope", type=click.Choice(["area", "all"]), default="area", show_default=True,
              help="Who else must not notice: the rest of the area, or of all areas.")  # fmt: skip
@click.option("--sample", type=int, default=None, metavar="N",
              help="Only N defects, drawn by the seed from all areas.")  # fmt: skip
@click.option("--slice", "part", callback=_slice, default=None, metavar="K/N",
              help="Only slice K of N: all slices together are all rows.")  # fmt: skip
@click.option("--alone", type=int, default=None, metavar="N",
              help="Judge the whole scope under N of them, drawn by the seed; under the others "
              "their own requirement.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seed of what is drawn.")
@click.option("--baseline", "results", type=click.Path(path_type=Path, file_okay=False),
              help="The --out of a run of the suites on TARGET: its verdicts without a defect "
              "count, and rows that judge their own requirement make no such run.")  # fmt: skip
@click.option("--out", default="results/defects", type=click.Path(path_type=Path, file_okay=False))
def main(
    target: str,
    globs: tuple[str, ...],
    joined: bool,
    built_in: bool | None,
    jobs: int,
    versions: str,
    scope: str,
    sample: int | None,
    part: RowSlice | None,
    alone: int | None,
    seed: int,
    results: Path | None,
    out: Path,
) -> None:
    """Run every defect in front of TARGET and say which check noticed it."""
    for glob in globs:
        if not any(fnmatch(d.requirement, glob) for d in ALL_DEFECTS):
            raise click.UsageError(f"no defect is made for {glob!r}")
    is_cluster = has_several_nodes(target)
    known = [defect for defect in ALL_DEFECTS if defect.cluster == is_cluster]
    known = [defect for defect in known if strikes(defect, target)]
    if built_in is False:  # what is on the wire is a table of its own
        known = [defect for defect in known if not defect.built_in]
    matching = [d for d in known if any(fnmatch(d.requirement, glob) for glob in globs)]
    matching = [defect for defect in matching if defect.joined or not joined]
    matching = [defect for defect in matching if defect.built_in or not built_in]
    matching = matching if part is None else part.of(matching)
    if not matching:
        raise click.UsageError(
            "no such defect strikes this target: some strike no broker (--target reference has "
            "them), others a cluster alone (--target kafka:RELEASE,nodes=3)"
        )
    chosen = matching if sample is None else sampled(matching, sample, seed)
    drawn = None if alone is None else {one.name for one in sampled(chosen, alone, seed)}
    baseline = None if results is None else _baseline(results, target)
    asked = TableRequest(target, chosen, chosen == known, jobs, versions, scope, drawn, baseline)
    sys.exit(_run(asked, out))


def _baseline(results: Path, target: str) -> RunSummary | None:
    try:
        found = read_baseline(results, target)
    except (UnfitBaseline, OSError) as problem:
        raise click.UsageError(f"--baseline: {problem}") from problem
    if found is None:
        click.echo(f"no run of {target} in {results}: tests run without a defect first", err=True)
    return found


def _run(asked: TableRequest, out: Path) -> int:
    """Write the table and return the exit code."""
    try:
        with signals_raise():
            progress = TableProgress(Console(stderr=True), asked)
            table = TableRun(asked, progress, progress.show).table()
    except (TargetError, CollectionFailed) as error:
        raise click.UsageError(str(error)) from error
    except NeverClean as error:
        raise click.ClickException(f"without any defect:\n{error}") from error
    except EndedBySignal as ended:
        return ended.code
    out.mkdir(parents=True, exist_ok=True)
    name = asked.spec.replace(":", "-")
    (out / f"{name}.md").write_text(table.markdown(), "utf-8")
    (out / f"{name}.json").write_text(table.to_json(), "utf-8")
    click.echo(table.markdown())
    return 0 if table.good else 1


if __name__ == "__main__":
    main()

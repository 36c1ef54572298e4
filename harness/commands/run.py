"""``kafka-conformance run``: judge targets, one after the other."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from harness.base.orderly_end import orderly_end
from harness.commands.jobs import FIT, jobs_for
from harness.commands.judging import (
    JudgedTarget,
    RunInterrupted,
    case_arguments,
    judge_target,
    suite_folders,
    suites_root,
)
from harness.commands.requirement_globs import require_some_of_a_run
from harness.commands.run_as_one import record_runs, require_one_broker, undecided
from harness.commands.run_display import show_bar, show_lines, show_nothing
from harness.commands.suite_pytest import at_once
from harness.conformance.catalogue import load_catalogue
from harness.conformance.headline import as_json
from harness.conformance.joined_runs import joined
from harness.conformance.run_headline import headline_of
from harness.conformance.summary import (
    NOTHING_PASSED,
    RequirementSummary,
    RunExit,
    RunSummary,
    joint_exit_code,
)
from harness.conformance.verdict import Verdict
from harness.runner.datasets import load_parquet, write_parquet
from harness.runner.judging_files import count_tests
from harness.runner.run_session import NOT_ANSWERED
from harness.targets.artifacts import fetch_release
from harness.targets.errors import TargetError
from harness.targets.java import JavaError, find_java
from harness.targets.kafka.target import KafkaTarget
from harness.targets.spec import expand_all, parse_target

_STYLES = {
    Verdict.PASSED: "green",
    Verdict.FAILED: "red",
    Verdict.HARNESS_ERROR: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.WARNING: "yellow",
}
_ALWAYS_SHOWN = {Verdict.FAILED, Verdict.PASSED}


@click.command()
@click.option("--target", "specs", multiple=True, metavar="SPEC",
              help="reference (default), kafka:RELEASE, kafka:FROM..TO, external:HOST:PORT, "
              "command:FILE; may be repeated; `kafka-conformance targets` lists all.")  # fmt: skip
@click.option(
    "--suite", "suites", multiple=True, metavar="NAME", help="protocol, ...; default all."
)
@click.option("--requirement", "globs", multiple=True, metavar="GLOB",
              help="Only requirements that match, such as 'PROD-*'; may be repeated.")  # fmt: skip
@click.option("--case", "cases", multiple=True, metavar="CASE",
              help="Only this case, named as in a journal; may be repeated.")  # fmt: skip
@click.option("--jobs", default=FIT, metavar="N", show_default=True,
              help="Test processes at the same time: a number, auto (one a core), or fit: three a "
              "core on the built-in broker (two as a cluster), two on Kafka, one on brokers in "
              "containers or of a command file, as far as memory allows, and a single one on an "
              "external cluster.")  # fmt: skip
@click.option("--retries", default=0, metavar="N",
              help="Run a failed case up to N times more; the worst attempt counts.")  # fmt: skip
@click.option("--versions", type=click.Choice(["all", "ends"]), default="all", show_default=True,
              help="Run at each version of a range, or only at both ends.")  # fmt: skip
@click.option("--grease", is_flag=True,
              help="Add unknown tagged fields to every flexible request; brokers must ignore "
              "them.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seed of every random draw.")
@click.option("--oracle-seed", type=int, metavar="N",
              help="Draw the conversations with the specification anew; default: by the version of "
              "the catalogue, so that all runs send the same requests.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder for journals, evidence and Parquet; may hold earlier runs.")  # fmt: skip
@click.option(
    "--keep",
    is_flag=True,
    help="Keep the data folders of brokers that are started, in the run's folder.",
)
@click.option(
    "--strict", is_flag=True, help="A SHOULD that does not hold counts as a failure: exit code 1."
)
@click.option("--as-one", is_flag=True,
              help="The targets are set-ups of one broker: each further one is asked for the "
              "requirements that none before it decided, and the headline joins them.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def run(
    specs: tuple[str, ...],
    suites: tuple[str, ...],
    globs: tuple[str, ...],
    cases: tuple[str, ...],
    jobs: str,
    retries: int,
    versions: str,
    grease: bool,
    seed: int,
    oracle_seed: int | None,
    out: Path,
    keep: bool,
    strict: bool,
    as_one: bool,
    as_json: bool,
) -> None:
    """Judge one or more targets and keep every result in OUT.

    \b
    Exit codes: 0 green, 1 something failed (with --strict a SHOULD too), 2 wrong usage,
                3 incomplete or the harness itself failed.
    """
    if jobs not in (FIT, "auto") and not (jobs.isdigit() and int(jobs) > 0):
        raise click.UsageError(f"--jobs takes a number from 1, auto or {FIT}, not {jobs!r}")
    console = Console(stderr=True)
    out = out.absolute()
    if suites and cases:
        raise click.UsageError("--suite and --case exclude each other: a case names its suite")
    wanted = case_arguments(cases) if cases else suite_folders(suites)
    require_some_of_a_run(globs)
    specs = _prepare(specs or ("reference",), console)
    if as_one:
        require_one_broker(specs)
    options = [*wanted, "--seed", str(seed), "--retries", str(retries), "--versions", versions]
    options += [] if oracle_seed is None else ["--oracle-seed", str(oracle_seed)]
    options += ["--keep"] * keep + ["--grease"] * grease
    load_parquet()
    judged: list[JudgedTarget] = []
    watch = show_nothing if as_json else show_bar if console.is_terminal else show_lines
    try:
        with orderly_end():
            for spec in specs:
                asked = undecided(judged, globs) if as_one and judged else list(globs)
                if as_one and not asked and judged:
                    break
                words = [*options, *_selection(asked), *_at_once(spec, jobs, wanted, asked)]
                with watch(spec, out, console) as watched:
                    judged.append(judge_target(spec, words, out, watched))
    except RunInterrupted as stop:
        console.print("interrupted: the run is incomplete")
        judged.append(stop.judged)
        record_runs(judged if as_one else [], out)
        _show(judged, as_json, is_selected=bool(globs), strict=strict, as_one=as_one)
        sys.exit(RunExit.INCOMPLETE)
    record_runs(judged if as_one else [], out)
    for lacking in write_parquet(out):
        console.print(lacking, markup=False, soft_wrap=True)
    _show(judged, as_json, is_selected=bool(globs), strict=strict, as_one=as_one)
    sys.exit(_exit_code(judged, strict=strict, as_one=as_one))


def _prepare(given: tuple[str, ...], console: Console) -> tuple[str, ...]:
    """Parse all targets before anything starts, and download what they need; one string each."""
    try:
        specs = tuple(expand_all(given))
        for spec in specs:
            target = parse_target(spec)
            if isinstance(target, KafkaTarget):
                find_java()  # before anything is downloaded for it
                for release in filter(None, (target.release, target.newer)):
                    _download(release, console)
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    except JavaError as error:
        raise click.UsageError(f"{spec} needs Java: {error}") from error
    return specs


def _download(release: str, console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"Kafka {release}", total=None)
        fetch_release(release, lambda done, total: bar.update(task, completed=done, total=total))


def _selection(globs: Sequence[str]) -> list[str]:
    return [word for glob in globs for word in ("--requirement", glob)]


def _at_once(spec: str, jobs: str, wanted: Sequence[str], globs: Sequence[str]) -> list[str]:
    """Options for as many processes; none where this one is enough."""
    cases = sum("::" in each for each in wanted)
    tests = cases or count_tests(map(Path, wanted), globs)
    number = jobs_for(parse_target(spec), jobs, tests)
    return [] if number == "1" else at_once(number)


def _exit_code(judged: list[JudgedTarget], *, strict: bool, as_one: bool) -> int:
    found = [one.summary for one in judged if one.summary]
    if len(found) < len(judged):
        return RunExit.INCOMPLETE
    return joint_exit_code([joined(found)] if as_one else found, strict=strict)


def _show(
    judged: list[JudgedTarget], in_json: bool, *, is_selected: bool, strict: bool, as_one: bool
) -> None:
    """Print the counts; also the verdict of each requirement, if the user selected some."""
    summaries = [one.summary for one in judged if one.summary]
    whole = joined(summaries) if as_one and summaries else None
    if in_json:
        runs = [_as_json(one, strict=strict) for one in judged]
        result = {"exit": _exit_code(judged, strict=strict, as_one=as_one), "runs": runs}
        if whole:
            result["as_one"] = as_json(headline_of(whole, suites_root()))
        click.echo(json.dumps(result))
        return
    screen = Console(file=sys.stdout)
    counts = {one.spec: one.summary.counts if one.summary else None for one in judged}
    seen = {verdict for found in counts.values() if found
            for verdict, number in found.items() if number}  # fmt: skip
    shown = [verdict for verdict in Verdict if verdict in seen | _ALWAYS_SHOWN]
    table = Table("target", *[verdict.value.replace("_", " ") for verdict in shown])
    for spec, found in counts.items():
        cells = [_cell(verdict, found[verdict]) if found else "-" for verdict in shown]
        table.add_row(spec, *cells)
    screen.print(table)
    for one in judged:
        screen.print(f"{one.spec}: {one.run_dir}", markup=False, highlight=False, soft_wrap=True)
        for sentence in [*(_verdicts(one) if is_selected else []), *_sentences(one, whole)]:
            screen.print(f"{one.spec}: {sentence}", markup=False, highlight=False, soft_wrap=True)
    for line in [*headline_of(whole, suites_root()).lines, *whole.sentences()] if whole else ():
        screen.print(f"as one: {line}", markup=False, highlight=False, soft_wrap=True)


def _cell(verdict: Verdict, count: int) -> str:
    style = _STYLES.get(verdict)
    return f"[{style}]{count}[/]" if style and count else str(count)


def _verdicts(one: JudgedTarget) -> list[str]:
    """Id, verdict and statement of each requirement that the run judged."""
    if one.summary is None:
        return []
    catalogue = load_catalogue()
    return [
        f"{name} {found.verdict}: {catalogue.requirement(name).statement}"
        for name, found in sorted(one.summary.requirements.items())
    ]


def _sentences(one: JudgedTarget, whole: RunSummary | None) -> list[str]:
    """The lines about one target; without its headline if ``whole``, several as one, has one."""
    if one.summary is None:
        return [f"no result: {one.problem}", *([_kept(one.kept)] if one.kept else [])]
    found = [*_missing_rights(one.summary), *one.summary.sentences()]
    if whole:  # its headline says what all of them show
        lines = [each for each in found if each != NOTHING_PASSED]
    else:
        lines = [*headline_of(one.summary, suites_root()).lines, *found]
    if one.problem:
        lines.append(f"pytest said: {one.problem} (all of it: {one.run_dir / 'pytest.log'})")
    if one.death:
        lines.append(f"the target died during the run: {one.death}")
    if one.kept:
        lines.append(_kept(one.kept))
    gone = {c.case for found in one.summary.requirements.values() for c in found.checks
            if c.reason == NOT_ANSWERED}  # fmt: skip
    if gone:
        lines.append(
            f"{len(gone)} cases were not judged: the broker did not answer when they began"
        )
    lines += _reasons(one, one.summary)
    return [line for line in lines if line]


def _missing_rights(summary: RunSummary) -> list[str]:
    """A line for each right that the user of the run lacks."""
    found = summary.missing_rights
    head = ["missing rights of the user, and the cases that are not applicable for each:"]
    return [*head, *(f"  {right}: {count}" for right, count in found.items())] if found else []


def _reasons(one: JudgedTarget, summary: RunSummary) -> list[str]:
    """The first reason of each requirement that has one; the SHOULDs that do not hold stand last,
    after a line that names them."""
    lines = [
        _first_of(found, one.run_dir)
        for name, found in summary.requirements.items()
        if name not in summary.warnings
    ]
    if weak := summary.warnings:
        lines.append(f"SHOULD does not hold, a failure with --strict: {', '.join(weak)}.")
        lines += [_first_of(summary.requirements[name], one.run_dir) for name in weak]
    return lines


def _kept(folder: Path) -> str:
    return f"the data folders of its brokers are kept in {folder}"


def _first_of(found: RequirementSummary, run_dir: Path) -> str:
    """The first check that says what is wrong, where its evidence is, and how many more do."""
    told = [c for c in found.checks if c.evidence and c.reason and c.reason != NOT_ANSWERED]
    told.sort(key=lambda check: check.verdict is not found.verdict)
    if not told:
        return ""
    first = told[0]
    more = f", and {len(told) - 1} more" if len(told) > 1 else ""
    where = run_dir / str(first.evidence)
    return f"{found.requirement} {first.case}: {first.text.splitlines()[0]} ({where}{more})"


def _as_json(one: JudgedTarget, *, strict: bool) -> dict[str, Any]:
    base = {"target": one.spec, "run": one.run_dir.name, "folder": str(one.run_dir)}
    summary: RunSummary | None = one.summary
    if summary is None:
        return {**base, "exit": int(RunExit.INCOMPLETE), "problem": one.problem}
    return {
        **base,
        "exit": int(summary.exit_code_if(strict=strict)),
        "headline": as_json(headline_of(summary, suites_root())),
        "counts": {verdict.value: number for verdict, number in summary.counts.items()},
        "requirements": {name: r.verdict.value for name, r in summary.requirements.items()},
        "sentences": list(summary.sentences()),
        "warnings": dict(summary.warnings),
        "missing_rights": [
            {**right._asdict(), "cases": count} for right, count in summary.missing_rights.items()
        ],
        "died": one.death or None,
        "kept": str(one.kept) if one.kept else None,
    }

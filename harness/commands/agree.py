"""``kafka-conformance agree``: is the built-in broker like the releases that it can be like?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from harness.base.bundle import suites_root
from harness.commands.judging import JudgedTarget, judge_target, suite_folders
from harness.commands.requirement_globs import require_known
from harness.commands.suite_pytest import at_once
from harness.conformance.agreement import (
    DifferencesError,
    ReleaseAgreement,
    agree,
    flips,
    load_differences,
)
from harness.conformance.catalogue import load_catalogue
from harness.conformance.found_runs import ResultsNotFound, find_runs
from harness.conformance.summary import RunExit, RunSummary, summarize
from harness.reference_broker.emulated_release import releases

NAMED, NAMED_OF_CLUSTERS = "suites/reference-like.toml", "suites/reference-like-clusters.toml"
Pair = tuple[RunSummary, RunSummary]


@click.command("agree")
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path, file_okay=False))
@click.option("--release", "chosen", multiple=True, type=click.Choice(releases()),
              help="Only these releases; default all that the broker can be like.")  # fmt: skip
@click.option("--nodes", default=1, show_default=True, type=click.IntRange(min=1),
              help="Compare clusters of so many brokers.")  # fmt: skip
@click.option("--suite", "suites", multiple=True, metavar="NAME",
              help="Only these suites; may be repeated.")  # fmt: skip
@click.option("--no-run", is_flag=True,
              help="Judge nothing: read the newest runs of both targets in OUT.")  # fmt: skip
@click.option("--requirement", "globs", multiple=True, metavar="GLOB",
              help="Only requirements that match, such as 'PROD-*'; may be repeated.")  # fmt: skip
@click.option("--versions", type=click.Choice(["all", "ends"]), default="all", show_default=True,
              help="Run at each version of a range, or only at both ends.")  # fmt: skip
@click.option("--jobs", default=1, show_default=True, help="Test processes at the same time.")
def agree_command(
    out: Path,
    chosen: tuple[str, ...],
    nodes: int,
    suites: tuple[str, ...],
    no_run: bool,
    globs: tuple[str, ...],
    versions: str,
    jobs: int,
) -> None:
    """Run the suites on `reference,like=RELEASE` and on `kafka:RELEASE`; say what differs.

    Known differences are named, with reasons, in suites/reference-like.toml, those of clusters in
    suites/reference-like-clusters.toml. The runs are kept in OUT.

    \b
    Exit codes: 0 none differs that is not named, 1 some do, or a named one no longer does,
                2 wrong usage, 3 a run is missing or incomplete.
    """
    require_known(globs)
    wanted = [one for one in releases() if one in (chosen or releases())]
    options = [*suite_folders(suites), "--versions", versions, *at_once(str(jobs))]
    options += [word for glob in globs for word in ("--requirement", glob)]
    console = Console(file=sys.stdout)
    catalogue = load_catalogue()
    names_file = NAMED if nodes == 1 else NAMED_OF_CLUSTERS
    targets = {release: _targets(release, nodes) for release in wanted}
    try:
        named = load_differences(suites_root() / names_file, catalogue, releases())
        if not no_run:
            for spec in (spec for pair in targets.values() for spec in pair):
                _judge(spec, options, out.absolute())
        pairs = _pairs(out, targets)
    except (DifferencesError, ResultsNotFound) as error:
        raise click.UsageError(str(error)) from error
    found = [agree(release, *pair, named) for release, pair in pairs.items()]
    for one in found:
        _show(one, names_file, console)
    if len(pairs) > 1:
        counts = flips(list(pairs.values()), catalogue)
        console.print(
            f"dated requirements that change from one of these releases to the next: "
            f"{counts['both']} on both, {counts['like']} only on the built-in broker, "
            f"{counts['real']} only on Kafka",
            soft_wrap=True,
        )
    sys.exit(_exit_code(found))


def _targets(release: str, nodes: int) -> tuple[str, str]:
    if nodes == 1:
        return f"reference,like={release}", f"kafka:{release}"
    return f"reference,nodes={nodes},like={release}", f"kafka:{release},nodes={nodes}"


def _judge(spec: str, options: list[str], out: Path) -> None:
    click.echo(f"judging {spec} ...", err=True)
    judged: JudgedTarget = judge_target(spec, options, out, lambda _: None)
    if judged.summary is None:
        click.echo(f"{spec}: no result: {judged.problem}", err=True)
        sys.exit(RunExit.INCOMPLETE)


def _pairs(out: Path, targets: Mapping[str, tuple[str, str]]) -> dict[str, Pair]:
    newest = find_runs(out).newest_by_target()
    pairs = {}
    for release, (like, real) in targets.items():
        for spec in (like, real):
            if spec not in newest:
                click.echo(f"{out} holds no run of {spec}", err=True)
                sys.exit(RunExit.INCOMPLETE)
        pairs[release] = (summarize(newest[like]), summarize(newest[real]))
    return pairs


def _show(one: ReleaseAgreement, names_file: str, console: Console) -> None:
    unnamed = sum(not difference.reason for difference in one.differences)
    console.print(
        f"{one.release}: {one.same} the same, {len(one.differences) - unnamed} differ and are "
        f"named, {unnamed} differ",
        highlight=False,
    )
    for defect in one.defects:
        console.print(f"{one.release}: {defect}", markup=False, soft_wrap=True)
    for name in one.needless:
        told = f"{name} is named in {names_file} and does not differ any more"
        console.print(f"{one.release}: {told}")
    if one.differences:
        table = Table("requirement", "built-in", "Kafka", "why")
        for each in one.differences:
            why = each.reason or f"[red]not named[/]: {each.said}".replace("[v", r"\[v")
            table.add_row(each.requirement, each.like or "-", each.real or "-", why)
        console.print(table)


def _exit_code(found: list[ReleaseAgreement]) -> int:
    if any(one.defects for one in found):
        return RunExit.INCOMPLETE
    return RunExit.GREEN if all(one.good for one in found) else RunExit.FAILURES

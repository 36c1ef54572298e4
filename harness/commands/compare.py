"""``kafka-conformance compare``: what became of the requirements between two results."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from harness.base.bundle import renamed_cases_file
from harness.conformance.compare import (
    OF_SCOPE,
    ChangeKind,
    ComparedRuns,
    CompareExit,
    Comparison,
    RequirementChange,
    compare,
)
from harness.conformance.flaky import Flake
from harness.conformance.found_runs import ResultsNotFound, read_runs
from harness.conformance.record import RunHeader
from harness.conformance.renamed_cases import read_renames, with_present_names

_PLACE = click.Path(path_type=Path)
_STYLES = {ChangeKind.REGRESSED: "red", ChangeKind.VANISHED: "yellow", ChangeKind.FIXED: "green"}


@click.command("compare")
@click.argument("before", metavar="BEFORE", type=_PLACE)
@click.argument("after", metavar="AFTER", type=_PLACE)
@click.option("--json", "json_file", metavar="FILE", type=click.Path(allow_dash=True),
              help="Write the result as JSON to FILE; - prints it, and no table.")  # fmt: skip
@click.option("--same-scope", is_flag=True,
              help="What AFTER did not ask counts as vanished: exit 1.")  # fmt: skip
def compare_command(before: Path, after: Path, json_file: str | None, *, same_scope: bool) -> None:
    """Show what is new, fixed, regressed, vanished and flaky from BEFORE to AFTER.

    What only one of them asked (other suites, options, targets, releases) is counted apart.

    Each is a folder that `run --out` wrote, or the folder of one run in it. Of several runs the
    newest of each target is compared; the older ones only show what is flaky. Cases are compared
    by their present names (suites/renamed_cases.tsv). Needs neither Spark nor Java.

    \b
    Exit codes: 0 nothing is worse, 1 something regressed or vanished, 2 wrong usage or
                results that cannot be read.
    """
    try:
        renames = read_renames(renamed_cases_file())
        sides = [
            [with_present_names(run, renames) for run in read_runs(side)]
            for side in (before, after)
        ]
        found = compare(*sides)
        text = json.dumps(as_json(found, same_scope=same_scope), indent=2)
        if json_file not in (None, "-"):
            Path(str(json_file)).write_text(text + "\n", "utf-8")
    except (ResultsNotFound, OSError) as error:
        raise click.UsageError(str(error)) from error
    if json_file == "-":
        click.echo(text)
    else:
        _show(found, Console(file=sys.stdout), found.exit_code_if(same_scope=same_scope))
    sys.exit(found.exit_code_if(same_scope=same_scope))


def _show(found: ComparedRuns, screen: Console, exit_code: CompareExit) -> None:
    for one in found.comparisons:
        for line in _about(one):
            screen.print(line, markup=False, highlight=False, soft_wrap=True)
        of_broker = tuple(change for change in one.changes if change.kind not in OF_SCOPE)
        if of_broker:
            screen.print(_table(of_broker))
    for flake in found.flaky:
        screen.print(_flaky(flake), markup=False, highlight=False, soft_wrap=True)
    screen.print(_last_line(found, exit_code), markup=False, highlight=False, soft_wrap=True)


def _about(one: Comparison) -> Iterator[str]:
    yield f"{one.target}: {_side(one.before)} -> {_side(one.after)}, {one.unchanged} unchanged"
    if one.before and one.after and one.before.catalogue_version != one.after.catalogue_version:
        yield (
            f"{one.target}: the catalogues differ ({one.before.catalogue_version}, "
            f"{one.after.catalogue_version}), so a statement may mean something else"
        )
    yield from (f"{one.target}: {line}" for line in one.defects)
    for kind, side in ((ChangeKind.NOT_ASKED, "AFTER"), (ChangeKind.NEWLY_ASKED, "BEFORE")):
        reasons = Counter(change.reason.splitlines()[0] for change in one.changes
                          if change.kind is kind)  # fmt: skip
        for reason, number in reasons.most_common():
            yield f"{one.target}: {number} {_words(kind)}, for {side}: {reason}"


def _words(kind: ChangeKind) -> str:
    return kind.value.replace("_", " ")


def _side(header: RunHeader | None) -> str:
    if header is None:
        return "no run"
    return f"{header.run} ({header.implementation} {header.release})"


def _table(changes: tuple[RequirementChange, ...]) -> Table:
    table = Table("change", "requirement", "before", "after", "where and why")
    for change in changes:
        style = _STYLES.get(change.kind)
        kind = f"{change.kind}, flaky" if change.flaky else str(change.kind)
        table.add_row(
            f"[{style}]{kind}[/]" if style else kind,
            change.requirement,
            change.before or "-",
            change.after or "-",
            _where(change),
        )
    return table


def _where(change: RequirementChange) -> str:
    more = f" and {len(change.cases) - 1} more" if len(change.cases) > 1 else ""
    case = change.cases[0] if change.cases else "no case"
    reason = change.reason.splitlines()[0] if change.reason else ""
    text = f"{case}{more}: {reason}" if reason else f"{case}{more}"
    return text.replace("[", r"\[")


def _flaky(flake: Flake) -> str:
    seen = ", ".join(f"{one.verdict} ({one.run}, attempt {one.attempt})" for one in flake.sightings)
    return f"flaky: {flake.target} {flake.release} {flake.requirement} {flake.case}: {seen}"


def _last_line(found: ComparedRuns, exit_code: CompareExit) -> str:
    kinds = [change.kind for one in found.comparisons for change in one.changes]
    counts = [f"{kinds.count(kind)} {_words(kind)}" for kind in ChangeKind]
    counts.append(f"{len({flake.requirement for flake in found.flaky})} flaky")
    return f"exit {int(exit_code)}: {', '.join(counts)}"


def as_json(found: ComparedRuns, *, same_scope: bool = False) -> dict[str, Any]:
    """The published form, described in docs/compare.md."""
    return {
        "exit": int(found.exit_code_if(same_scope=same_scope)),
        "comparisons": [_comparison_as_json(one) for one in found.comparisons],
        "flaky": [_flake_as_json(flake) for flake in found.flaky],
    }


def _comparison_as_json(one: Comparison) -> dict[str, Any]:
    kinds = [change.kind for change in one.changes]
    return {
        "target": one.target,
        "before": one.before.run_fields() if one.before else None,
        "after": one.after.run_fields() if one.after else None,
        "defects": list(one.defects),
        "counts": {kind.value: kinds.count(kind) for kind in ChangeKind}
        | {"unchanged": one.unchanged},
        "changes": [
            {
                "kind": change.kind.value,
                "requirement": change.requirement,
                "area": change.area,
                "level": change.level,
                "before": change.before.value if change.before else None,
                "after": change.after.value if change.after else None,
                "cases": list(change.cases),
                "reason": change.reason,
                "flaky": change.flaky,
            }
            for change in one.changes
        ],
    }


def _flake_as_json(flake: Flake) -> dict[str, Any]:
    return {
        "target": flake.target,
        "implementation": flake.implementation,
        "release": flake.release,
        "requirement": flake.requirement,
        "case": flake.case,
        "seen": [
            {"run": one.run, "attempt": one.attempt, "verdict": one.verdict.value}
            for one in flake.sightings
        ],
    }

"""``kafka-conformance cleanup``: remove from a cluster what a run that was cut short has left."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import click

from harness.base.own_names import prefix_problem
from harness.client.errors import BrokerMisbehaved
from harness.runner.cleanup.leftovers import CannotLook, Leftover, Leftovers, remove
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.info import probe
from harness.targets.spec import parse_target
from harness.targets.target import Target

EXIT_LEFT, EXIT_USAGE, EXIT_NOT_ASKED = 1, 2, 3
FOUND, REMOVED, LEFT = "found", "removed", "left"
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"(\d{1,6})([smhd])")


class Duration(click.ParamType[float]):
    """``90s``, ``30m``, ``2h``, ``1d``, in seconds."""

    name = "duration"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(value)
        if match is None:
            self.fail(f"{value!r} is no duration such as 90s, 30m, 2h or 1d", param, ctx)
        return float(match[1]) * UNITS_S[match[2]]


@dataclass(frozen=True, slots=True)
class CleanupRow:
    """The outcome of one leftover; ``reason``: why it was not removed."""

    kind: str
    name: str
    age_s: float
    outcome: str
    reason: str = ""


@click.command("cleanup")
@click.option("--target", "spec", metavar="SPEC", required=True,
              help="The cluster: external:HOST:PORT[,...][,profile=FILE].")  # fmt: skip
@click.option("--prefix", metavar="TEXT",
              help="What the names begin with; default: as in the profile, else kc-.")  # fmt: skip
@click.option("--older-than", "older_than_s", type=Duration(), default=0.0, metavar="DURATION",
              help="Only what a run made that began before 90s, 30m, 2h, 1d: leaves a run alone "
              "that goes on now.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
def cleanup_command(
    spec: str, prefix: str | None, older_than_s: float, dry_run: bool, as_json: bool
) -> None:
    """Remove the topics, groups and quotas that a killed run left, and nothing else.

    An object is ours if its whole name has the form that runs give; its prefix alone is not enough.
    Internal topics of the brokers stay.

    Exit 0: nothing is left; 1: something is left (with --dry-run: was found); 2: usage; 3: the
    cluster could not be asked.
    """
    target = _cluster(spec)
    if prefix is not None and prefix_problem(prefix):
        raise click.BadParameter(f"{prefix!r} {prefix_problem(prefix)}", param_hint="--prefix")
    show = _print_json if as_json else _print_row
    rows: list[CleanupRow] = []
    try:
        with target, Leftovers(
            probe(target), prefix or target.name_prefix, older_than_s
        ) as leftovers:  # fmt: skip
            for row in _treated(leftovers, dry_run=dry_run):
                rows.append(row)
                show(row)
    except (TargetError, BrokerMisbehaved) as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(EXIT_NOT_ASKED)
    _print_sum(rows, as_json=as_json)
    sys.exit(EXIT_LEFT if any(row.outcome != REMOVED for row in rows) else 0)


def _cluster(spec: str) -> Target:
    """A cluster that runs already: one that we would start has nothing to clean."""
    try:
        target = parse_target(spec)
    except TargetError as problem:
        raise click.BadParameter(str(problem), param_hint="--target") from problem
    if not isinstance(target, ExternalBroker):
        raise click.BadParameter(
            f"{spec!r} is started for each run and goes with it; what can be cleaned is a cluster "
            "that runs already: external:HOST:PORT",
            param_hint="--target",
        )
    return target


def _treated(leftovers: Leftovers, *, dry_run: bool) -> Iterator[CleanupRow]:
    for one in list(leftovers.find()):
        if isinstance(one, CannotLook):
            yield CleanupRow(one.kind, "", 0.0, LEFT, f"cannot be looked at: {one.reason}")
        elif dry_run:
            yield _row(one, FOUND)
        else:
            reason = remove(one)
            yield _row(one, LEFT if reason else REMOVED, reason)


def _row(one: Leftover, outcome: str, reason: str = "") -> CleanupRow:
    return CleanupRow(one.kind, one.name, round(one.age_s), outcome, reason)


def _print_json(row: CleanupRow) -> None:
    fields = {"kind": row.kind, "name": row.name, "age_s": row.age_s, "outcome": row.outcome}
    click.echo(json.dumps({**fields, "reason": row.reason}))


def _print_row(row: CleanupRow) -> None:
    why = f": {row.reason}" if row.reason else ""
    click.echo(f"{row.outcome:<8} {row.kind:<6} {row.name}{why}")


def _print_sum(rows: list[CleanupRow], *, as_json: bool) -> None:
    counts = {
        outcome: sum(row.outcome == outcome for row in rows) for outcome in (FOUND, REMOVED, LEFT)
    }
    if as_json:
        click.echo(json.dumps(counts))
    elif not rows:
        click.echo("Nothing of ours is there.")
    elif counts[FOUND]:
        click.echo(f"{counts[FOUND]} would be removed.")
    else:
        click.echo(f"{counts[REMOVED]} removed, {counts[LEFT]} left.")

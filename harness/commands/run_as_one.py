"""``run --as-one``: several set-ups of one broker, judged as one.

The first target is judged whole. Each further one is asked for the requirements that no target
before it decided: those that need its nodes, its files or its listeners.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click

from harness.commands.judging import JudgedTarget, suites_root
from harness.commands.requirement_globs import asked_by_clients
from harness.conformance.as_one_record import AsOneRecord
from harness.conformance.run_headline import tested_below


def require_one_broker(specs: Sequence[str]) -> None:
    """Raises UsageError unless there are several targets, and all are set-ups of one broker."""
    names = {broker_of(spec): spec for spec in specs}
    if len(specs) < 2:
        raise click.UsageError(
            "--as-one joins several targets, such as --target reference "
            "--target reference,nodes=3; it was given one"
        )
    if len(names) > 1:
        first, second, *_ = names.values()
        raise click.UsageError(
            f"--as-one joins set-ups of one broker; {first} and {second} are two brokers: "
            "judge them without --as-one"
        )


def undecided(judged: Sequence[JudgedTarget], globs: Sequence[str]) -> list[str]:
    """The ids that no target decided, of those with a test that match ``globs`` (none: all)."""
    decided = {name for one in judged if one.summary for name in one.summary.decided}
    return [
        name
        for name in sorted(tested_below(suites_root()))
        if name not in decided
        and not asked_by_clients(name)
        and (not globs or any(fnmatchcase(name, one) for one in globs))
    ]


def record_runs(judged: Sequence[JudgedTarget], out: Path) -> None:
    """Write down below ``out`` that these runs are of one broker; a single run is no group."""
    if len(judged) > 1:
        runs = [one.run_dir.name for one in judged]
        AsOneRecord(broker_of(judged[0].spec), runs).write(out)


def broker_of(spec: str) -> str:
    """The target without the options that change its set-up; ``like`` and ``with`` stay."""
    name, *options = spec.split(",")
    return ",".join([name, *(one for one in options if one.startswith(("like=", "with=")))])

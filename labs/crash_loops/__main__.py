"""``kafka-conformance lab crash-loops --target SPEC --rounds 20``: play rounds and write them down.

Exit 0: no promise was broken; 1: one was; 2: usage, or the target cannot be had.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import click

from harness.histories.history import to_lines
from harness.targets.errors import MissingCapability, TargetError
from labs.crash_loops.cases import CASES, CrashCase, named, usual
from labs.crash_loops.rounds import Round, play, read_back
from labs.crash_loops.stage import nodes_of, stage
from labs.crash_loops.table import Loop, markdown

OF_A_START = 20


@click.command()
@click.option("--target", default="kafka:4.4.0", show_default=True, help="With nodes=3: of three.")
@click.option("--case", "names", multiple=True, type=click.Choice([c.name for c in CASES]),
              help="May be repeated; default: all kills for so many brokers.")  # fmt: skip
@click.option("--rounds", default=3, show_default=True, help="Of each case.")
@click.option(
    "--seed", default=1, show_default=True, help="The moments and victims follow from it."
)
@click.option("--out", default="results/crash-loops", show_default=True,
              type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
def main(target: str, names: tuple[str, ...], rounds: int, seed: int, out: Path) -> None:
    """Kill brokers, or cut their disks' power, under load, and judge the fate of each record."""
    cases = [named(name) for name in names] or usual(nodes_of(target))
    wrong = [case.name for case in cases if case.nodes != nodes_of(target)]
    if wrong or not cases:
        raise click.UsageError(f"{target} has {nodes_of(target)} brokers: no {', '.join(wrong)}")
    out.mkdir(parents=True, exist_ok=True)
    try:
        loops = [run(target, case, rounds, seed) for case in cases]
    except (TargetError, MissingCapability) as error:
        raise click.UsageError(str(error)) from error
    for loop in loops:
        _keep_broken(loop, out)
    name = "-".join([target.replace(":", "-"), *names])
    (out / f"{name}.md").write_text(markdown(target, loops), "utf-8")
    click.echo(markdown(target, loops))
    sys.exit(0 if all(loop.good for loop in loops) else 1)


def run(target: str, case: CrashCase, rounds: int, seed: int) -> Loop:
    """All rounds, so many on a start: each leaves its logs, which every recovery looks at."""
    began_s = time.monotonic()
    played: list[Round] = []
    for first in range(0, rounds, OF_A_START):
        seeds = [f"{seed}/{case.name}/{n}" for n in range(first, min(rounds, first + OF_A_START))]
        played += _on_one_start(target, case, seeds)
    return Loop(case, played, time.monotonic() - began_s)


def _on_one_start(target: str, case: CrashCase, seeds: list[str]) -> list[Round]:
    """Logs that no crash may take from are read behind the last one."""
    played: list[Round] = []
    with tempfile.TemporaryDirectory(prefix="crash-loops-") as folder:
        with stage(target, case, Path(folder)) as ready:
            for seed in seeds:
                played.append(play(ready, seed))
                click.echo(f"{seed}: {_said(played[-1])}", err=True)
            for each in played:
                if each.verdict is None:
                    read_back(ready, each)
    return played


def _said(one: Round) -> str:
    back = f"back after {one.back_s:.1f} s"
    if one.verdict is None:
        return f"{back}, {len(one.history)} operations"
    survival = one.verdict.survival
    told = f"{survival.acknowledged} acknowledged, {len(survival.lost)} lost"
    return f"{back}, {told}; {'; '.join(one.broken) or 'as promised'}"


def _keep_broken(loop: Loop, out: Path) -> None:
    """Write the whole history of each round with a violation."""
    for each in loop.rounds:
        if each.broken:
            path = out / f"{each.seed.replace('/', '-')}.history.jsonl"
            path.write_text(to_lines(each.history), "utf-8")


if __name__ == "__main__":
    main()

"""``python -m labs.transaction_histories.fault_schedules --seeds N..M``: a line a schedule.

A seed draws a workload and faults that overlap (``schedules.py``): brokers are killed and paused,
cut off from their clients or from the other nodes, connections are reset, requests and answers are
lost or late. Exit 0: every history is valid; 1: one is not, or cannot be judged; 2: usage.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from harness.histories.history import OperationOutcome, to_lines
from harness.histories.judgement import HistoryVerdict
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.spec import parse_target
from harness.targets.target import LINKS, Target
from labs.clients_under_faults.__main__ import seeds_of
from labs.crash_loops.stage import SETTINGS, nodes_of
from labs.transaction_histories.client_families import CLIENTS, OWN
from labs.transaction_histories.nemesis import SPLIT, kinds_for
from labs.transaction_histories.run import TransactionRun, play
from labs.transaction_histories.schedules import schedule
from labs.transaction_histories.workloads import WORKLOADS


class _Stage:
    """A started target, and a new one after a run that may have harmed it."""

    def __init__(self, spec: str, folder: Path, opened: ExitStack) -> None:
        self._spec, self._folder, self._opened = spec, folder, opened
        self._target: Target | None = None

    def target(self) -> Target:
        """Raises TargetError, MissingCapability: it cannot be had."""
        if self._target is None:
            like = parse_target(self._spec, log_dir=self._folder)
            nodes = nodes_of(self._spec)
            links = nodes > 1 and LINKS in like.capabilities
            started = like.start_another(SETTINGS, nodes=nodes, links=links)
            self._target = self._opened.enter_context(started)
        return self._target

    def leave(self) -> None:
        """End this target."""
        self._opened.close()
        self._target = None


@click.command()
@click.option("--target", default="reference,nodes=3", show_default=True)
@click.option("--client", type=click.Choice(CLIENTS), default=OWN, show_default=True,
              help="The library of the producers and the consumer.")  # fmt: skip
@click.option("--seeds", "seeds_text", default="0..2", show_default=True, metavar="N..M")
@click.option("--out", default="results/fault-schedules", show_default=True,
              type=click.Path(path_type=Path, file_okay=False),
              help="For the histories that are not valid.")  # fmt: skip
def main(target: str, client: str, seeds_text: str, out: Path) -> None:
    """Run transactional clients through schedules of overlapping faults, a line for each."""
    out.mkdir(parents=True, exist_ok=True)
    good = 0
    seeds = seeds_of(seeds_text)
    try:
        with tempfile.TemporaryDirectory(prefix="schedules-") as folder, ExitStack() as opened:
            stage = _Stage(target, Path(folder), opened)
            for seed in seeds:
                run = _run(stage.target(), seed, client)
                click.echo(line(run))
                if run.judgement.verdict is HistoryVerdict.VALID:
                    good += 1
                    continue
                name = f"{target.replace(':', '-')}-{client}-{seed}.history.jsonl"
                (out / name).write_text(to_lines(run.history), "utf-8")
                stage.leave()
    except (TargetError, MissingCapability) as error:
        raise click.UsageError(str(error)) from error
    click.echo(f"{target}: {good} of {len(seeds)} schedules are valid")
    sys.exit(0 if good == len(seeds) else 1)


def _run(target: Target, seed: int, client: str) -> TransactionRun:
    workload = WORKLOADS[seed % len(WORKLOADS)]
    drawn = schedule(seed, target.nodes, kinds_of(target))
    return play(target, workload, seed, [drawn], client)


def kinds_of(target: Target) -> Sequence[str]:
    """All kinds of faults that the target allows; clusters keep their data on disk."""
    several = len(target.nodes) > 1
    return [*kinds_for(target, keeps_data=several), *([SPLIT] if several else [])]


def line(run: TransactionRun) -> str:
    """One line: seed, verdict, numbers, faults, and what is broken."""
    done, judged = run.outcomes, run.judgement
    commits = ", ".join(f"{done[one]} {one}" for one in OperationOutcome)
    broken = "; ".join(str(found)[:300] for found in judged.findings) or judged.why
    words = [
        f"seed {run.seed}: {judged.verdict}, {run.workload}",
        f"{len(run.history)} operations in {run.seconds:.0f} s, commits: {commits}",
        " ".join(map(str, run.faults)),
    ]
    return "; ".join([*words, *([f"BROKEN: {broken}"] if broken else [])]).replace("\n", " ")


if __name__ == "__main__":
    main()

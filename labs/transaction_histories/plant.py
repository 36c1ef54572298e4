"""``kafka-conformance lab planted-bugs``: every planted bug must be found.

Exit 0: each run shows the anomaly of its bug within the stated operations; 1: one does not.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from harness.targets.reference_cluster import ReferenceCluster
from labs.crash_loops.stage import SETTINGS
from labs.transaction_histories.nemesis import LOST, RESET, TransactionFault, plan
from labs.transaction_histories.planted_bugs import PLANTED, PlantedBug
from labs.transaction_histories.run import RunPatience, TransactionRun, play

MODULE = "labs.transaction_histories.wrong_coordinator"
NODES, FAULTS = 3, 2
LOST_SHARE = 0.5
SHORT = RunPatience(go_on_s=15, read_s=8)
"""A bug may stop a producer or a consumer for ever."""


@dataclass(frozen=True, slots=True)
class FoundBug:
    """``anomalies``: the names, those that a mode allows left out."""

    bug: PlantedBug
    run: TransactionRun

    @property
    def anomalies(self) -> list[str]:
        return [str(one) for one in self.run.judgement.anomalies]

    @property
    def is_found(self) -> bool:
        """The named anomaly is there, in a history that is short enough."""
        is_short = len(self.run.history) <= self.bug.operations
        return is_short and self.bug.shows in self.run.judgement.anomalies

    def row(self) -> str:
        shown = ", ".join(self.anomalies) or self.run.judgement.why
        cells = (self.bug.name.replace("_", " "), self.bug.shows, "yes" if self.is_found else "NO",
                 str(len(self.run.history)), shown)  # fmt: skip
        return f"| {' | '.join(cells)} |"


def find(bug: PlantedBug, seed: int) -> FoundBug:
    """Run the bug's workload on three wrong brokers, and judge the history."""
    command = (sys.executable, "-m", MODULE, bug.name, "--port", "0")
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        with ReferenceCluster(
            NODES, log_dir=Path(folder), settings=SETTINGS, command=command
        ) as target:
            faults = _faults(bug, seed, target.nodes)
            return FoundBug(bug, play(target, bug.workload, seed, faults, patience=SHORT))


def _faults(bug: PlantedBug, seed: int, nodes: Sequence[int]) -> list[TransactionFault]:
    drawn = plan(f"{seed} {bug.name}", FAULTS, nodes, (LOST, RESET))
    if not bug.lost:
        return drawn
    return [replace(fault, kind=LOST, api=bug.lost, share=LOST_SHARE) for fault in drawn]


@click.command()
@click.option("--bug", "names", multiple=True, type=click.Choice([bug.name for bug in PLANTED]),
              help="May be repeated; default: all.")  # fmt: skip
@click.option("--seed", default=1, show_default=True)
def main(names: tuple[str, ...], seed: int) -> None:
    """Find each planted bug by the history of clients."""
    chosen = [bug for bug in PLANTED if not names or bug.name in names]
    click.echo("| bug | must show | found | operations | shown |\n|---|---|---|---|---|")
    good = True
    for bug in chosen:
        found = find(bug, seed)
        click.echo(found.row())
        good &= found.is_found
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

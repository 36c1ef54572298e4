"""``python -m labs.transaction_histories --target SPEC --seed N``: workloads, faults, verdicts.

Exit 0: every history is valid; 1: one is not, or cannot be judged; 2: usage.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path

import click

from harness.histories.history import OperationOutcome, to_lines
from harness.histories.judgement import HistoryVerdict
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.spec import parse_target
from labs.crash_loops.stage import SETTINGS, nodes_of
from labs.transaction_histories.client_families import CLIENTS, OWN
from labs.transaction_histories.nemesis import KINDS, kinds_for, plan
from labs.transaction_histories.run import TransactionRun, play
from labs.transaction_histories.workloads import WORKLOADS

IN_MEMORY = "reference"
"""The built-in broker alone keeps its logs in memory, unless it has a disk."""


@click.command()
@click.option("--target", default="reference,nodes=3", show_default=True)
@click.option("--workload", "workloads", multiple=True, type=click.Choice(WORKLOADS),
              default=WORKLOADS, show_default=True, help="May be repeated.")  # fmt: skip
@click.option("--client", type=click.Choice(CLIENTS), default=OWN, show_default=True,
              help="The library of the producers and the consumer.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Of the transactions and the faults.")
@click.option("--runs", default=1, show_default=True, help="Of this and the next seeds.")
@click.option("--faults", default=4, show_default=True, help="Of each workload.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS),
              help="Of faults; may be repeated; default: all that the target allows.")  # fmt: skip
@click.option("--out", default="results/transaction-histories", show_default=True,
              type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
def main(
    target: str,
    workloads: tuple[str, ...],
    client: str,
    seed: int,
    runs: int,
    faults: int,
    kinds: tuple[str, ...],
    out: Path,
) -> None:
    """Run transactional clients through faults, and judge what they have seen."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="transactions-") as folder:
            like = parse_target(target, log_dir=Path(folder))
            with like.start_another(SETTINGS, nodes=nodes_of(target)) as started:
                keeps = not like.spec.startswith(IN_MEMORY) or "," in like.spec
                chosen = list(kinds) or kinds_for(started, keeps_data=keeps)
                good = True
                for each, workload in product(range(seed, seed + runs), workloads):
                    drawn = plan(f"{each} {workload}", faults, started.nodes, chosen)
                    run = play(started, workload, each, drawn, client)
                    click.echo(said(run))
                    name = f"{target.replace(':', '-')}-{client}-{workload}-{each}.history.jsonl"
                    (out / name).write_text(to_lines(run.history), "utf-8")
                    good &= run.judgement.verdict is HistoryVerdict.VALID
    except (TargetError, MissingCapability) as error:
        raise click.UsageError(str(error)) from error
    sys.exit(0 if good else 1)


def said(run: TransactionRun) -> str:
    """One line, and one for each anomaly."""
    outcomes = run.outcomes
    numbers = ", ".join(f"{outcomes[one]} {one}" for one in OperationOutcome)
    lines = [
        f"{run.workload}, seed {run.seed}: {run.judgement.verdict} {run.judgement.why}".rstrip(),
        f"  {len(run.history)} operations in {run.seconds:.1f} s; commits: {numbers}",
        *(f"  {fault}" for fault in run.faults),
        *(f"  broken: {str(found)[:600]}" for found in run.judgement.findings),
        *(f"  allowed: {found.anomaly} x{found.count}" for found in run.judgement.allowed),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()

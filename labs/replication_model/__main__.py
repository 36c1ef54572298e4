"""``kafka-conformance lab replication-model --steps 100000 --seed 0``."""

from __future__ import annotations

import sys
import time

import click

from labs.replication_model.rules import RULES
from labs.replication_model.walk import walk

EXIT_OK, EXIT_BROKEN = 0, 1


@click.command()
@click.option("--steps", default=100_000, show_default=True, type=click.IntRange(1),
              help="How many, over all examples.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Of the first example.")
def main(steps: int, seed: int) -> None:
    """Run random steps and faults of a model cluster, and check the invariants after each step.

    Exit 0: all hold; 1: one does not, with the fewest steps that show it; 2: usage.
    """
    began = time.process_time()
    walked = walk(steps, seed)
    click.echo(
        f"{walked.ran.total()} steps in {walked.examples} examples from seed {seed} on, "
        f"{time.process_time() - began:.0f} s of processor"
    )
    for name in RULES:
        click.echo(f"  {name}: {walked.ran[name]}")
    if walked.story is not None:
        click.echo(f"seed {walked.seed} breaks an invariant:\n{walked.story}")
    sys.exit(EXIT_OK if walked.story is None else EXIT_BROKEN)


if __name__ == "__main__":
    main()

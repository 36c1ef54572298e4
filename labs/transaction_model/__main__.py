"""``kafka-conformance lab transaction-model --examples 1000 --seed 0``."""

from __future__ import annotations

import sys
import time

import click

from labs.transaction_model.machine import find

EXIT_OK, EXIT_DIFFERENT = 0, 1


@click.command()
@click.option("--examples", default=1_000, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=0, show_default=True, help="Of all examples.")
def main(examples: int, seed: int) -> None:
    """Drive the built-in coordinator and a small model of it by the same random steps.

    Exit 0: no difference; 1: one, with the fewest steps that show it; 2: usage.
    """
    began = time.process_time()
    ran, story = find(examples, seed)
    spent_s = time.process_time() - began
    click.echo(
        f"{ran.total()} steps of {examples} examples, seed {seed}, {spent_s:.0f} s of processor"
    )
    for outcome, count in sorted(ran.items()):
        click.echo(f"  {outcome} {count}")
    if story is not None:
        click.echo(story)
    sys.exit(EXIT_OK if story is None else EXIT_DIFFERENT)


if __name__ == "__main__":
    main()

"""Power losses of a modelled disk under the storage of the reference broker, many of them."""

from __future__ import annotations

import logging
import sys

import click

from labs.power_model.rounds import RoundCounts, play


@click.command()
@click.option("--rounds", default=100, help="Workloads, each with 48 disks.")
@click.option("--seed", default=0, help="Of the first one; the others have those behind it.")
@click.option(
    "--names",
    type=click.Choice(["journal", "folders"]),
    default="journal",
    help="In which order names reach the disk: all in one, or those of each folder.",
)
def main(rounds: int, seed: int, names: str) -> None:
    """Print each disk on which a promise is broken, then the totals. Exit 1 if there is one."""
    logging.getLogger("harness").setLevel(logging.ERROR)  # recovery logs each truncation
    counts = RoundCounts()
    for number in range(seed, seed + rounds):
        for told in play(number, counts, journal=names == "journal"):
            click.echo(told)
    click.echo(
        f"{counts.rounds} workloads, {counts.acknowledged} records acknowledged,"
        f" {counts.calls} calls, {counts.losses} power losses, {counts.disks} disks:"
        f" {counts.broken} broken, {counts.gaps} logs with a gap that was not flushed"
    )
    sys.exit(1 if counts.broken else 0)


if __name__ == "__main__":
    main()

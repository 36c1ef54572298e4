"""``kafka-conformance lab recovery --damages 500 --seed 1 --left kafka:4.4.0 --right kafka:3.9.2``.

Exit 0: both recovered every case alike, or differently for a written reason; 1: a case differs;
2: usage; 3: it could not be compared.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import click

from harness.client.errors import BrokerMisbehaved
from harness.targets.errors import MissingCapability, TargetError
from labs.recovery.run import Compare, run
from labs.recovery.table import RecoveryTable
from labs.recovery.writer import NotWritten

EXIT_OK, EXIT_DIFFERENT, EXIT_NOT_COMPARED = 0, 1, 3


@click.command()
@click.option("--damages", default=500, show_default=True, type=click.IntRange(1))
@click.option("--of", "many", default=0, metavar="COUNT",
              help="Draw so many, and take so many of them that every kind is there.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Of all cases, and of what is written.")
@click.option("--left", default="kafka:4.4.0", show_default=True, metavar="SPEC")
@click.option("--right", default="kafka:4.4.0", show_default=True, metavar="SPEC")
@click.option("--case", "numbers", multiple=True, type=click.IntRange(1),
              help="Only this one of them. May be repeated.")  # fmt: skip
@click.option("--kind", "kinds", multiple=True, metavar="TEXT",
              help="Only kinds of damage whose names hold this. May be repeated.")  # fmt: skip
@click.option("--old", is_flag=True, help="Logs of magic 0 and 1 that 0.10.2.2 wrote.")
@click.option("--out", default="results/recovery", type=click.Path(path_type=Path, file_okay=False),
              show_default=True)  # fmt: skip
def main(
    damages: int,
    many: int,
    seed: int,
    left: str,
    right: str,
    numbers: tuple[int, ...],
    kinds: tuple[str, ...],
    old: bool,
    out: Path,
) -> None:
    """Damage copies of logs, let two brokers recover them, and compare what they then serve."""
    wanted = Compare(damages, seed, (left, right), numbers, kinds, old, many)
    began_s = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="kafka-conformance-recovery-") as place:
            found = run(wanted, Path(place), lambda text: click.echo(text, err=True))
    except (TargetError, MissingCapability, BrokerMisbehaved, NotWritten) as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(EXIT_NOT_COMPARED)
    table = RecoveryTable(
        left, right, seed, found.compared, found.starts, time.monotonic() - began_s
    )
    out.mkdir(parents=True, exist_ok=True)
    name = "-".join([left.replace(":", "-"), right.replace(":", "-"), *(["old"] if old else [])])
    (out / f"{name}.md").write_text(table.markdown(), "utf-8")
    (out / f"{name}.json").write_text(json.dumps(table.to_json()) + "\n", "utf-8")
    click.echo(table.markdown())
    sys.exit(EXIT_OK if table.good else EXIT_DIFFERENT)


if __name__ == "__main__":
    main()

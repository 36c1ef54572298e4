"""``kafka-conformance lab client-defects``: the clients notice each of the wrong brokers."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from harness.targets.spec import parse_target
from labs.client_defects.rows import BY_ANOTHER, KAFKA_ALONE, ROWS
from labs.client_defects.struck_run import struck_row

BUILT_IN = "reference"


@click.command()
@click.option("--client", default="confluent-kafka", show_default=True, metavar="NAME")
@click.option("--target", "spec", default=BUILT_IN, show_default=True, metavar="SPEC")
@click.option("--requirement", "glob", default="*", metavar="GLOB", help="Only these rows.")
def main(client: str, spec: str, glob: str) -> None:
    """Judge each requirement of the area CLIENT at a broker with its defect.

    Exit 0: all were noticed for their reasons; 1: not all.
    """
    rows = [
        row
        for row in ROWS
        if fnmatchcase(row.requirement, glob)
        and not (spec.startswith(BUILT_IN) and row.requirement in KAFKA_ALONE)
    ]
    missed = 0
    with TemporaryDirectory(prefix="kafka-conformance-client-defects-") as name:
        out = Path(name)
        with parse_target(spec, log_dir=out / "logs") as running:
            for row in rows:
                found = struck_row(row, BY_ANOTHER.get(row.requirement, client), running, out)
                missed += bool(found.problem)
                said = found.problem or "killed"
                click.echo(f"{row.requirement} {row.name}: {said}")
    click.echo(f"{len(rows) - missed} of {len(rows)} defects were noticed")
    sys.exit(1 if missed or not rows else 0)


if __name__ == "__main__":
    main()

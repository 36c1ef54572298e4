"""``python -m labs.streams --target SPEC --seed N``: an application that counts, killed in between.

Exit 0: the output is exact; 1: it is not, or the application hangs; 2: usage.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from harness.targets.errors import MissingCapability, TargetError
from harness.targets.spec import parse_target
from labs.crash_loops.reading import NotReadable
from labs.crash_loops.stage import SETTINGS, cluster_of, nodes_of
from labs.streams.counts import StreamsHang, play


@click.command()
@click.option("--target", default="reference", show_default=True)
@click.option("--seed", default=1, show_default=True, help="Of the records and the kills.")
@click.option("--runs", default=1, show_default=True, help="Of this and the next seeds.")
@click.option("--kills", default=3, show_default=True, help="Of the application in each run.")
def main(target: str, seed: int, runs: int, kills: int) -> None:
    """Run Kafka Streams with exactly_once_v2 through kills, and judge its output."""
    good = True
    try:
        with tempfile.TemporaryDirectory(prefix="streams-") as folder:
            like = parse_target(target, log_dir=Path(folder))
            with (
                like.start_another(SETTINGS, nodes=nodes_of(target)) as started,
                cluster_of(started) as cluster,
            ):
                for each in range(seed, seed + runs):
                    run = play(started, cluster, each, kills, Path(folder))
                    click.echo(f"{target}: {run}")
                    good &= not run.problems
    except (StreamsHang, NotReadable) as problem:
        click.echo(f"{target}: {problem}")
        good = False
    except (TargetError, MissingCapability) as error:
        raise click.UsageError(str(error)) from error
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

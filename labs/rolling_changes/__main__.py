"""``kafka-conformance lab rolling-changes --migration migration --release 3.9.2``, or
``--upgrade 3.9.2..4.4.0``: a cluster of three brokers changes under load.

Exit 0: no record and no committed offset was lost; 1: one was; 2: usage, or it cannot be had.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.client.errors import ResponseTimeout
from harness.histories.history import to_lines
from harness.targets.errors import TargetError
from labs.rolling_changes.changes import MIGRATIONS, ClusterChange, migration, rolling_upgrade
from labs.rolling_changes.run import Played, play
from labs.rolling_changes.table import markdown


@click.command()
@click.option("--migration", "names", multiple=True, type=click.Choice(list(MIGRATIONS)),
              help="From ZooKeeper to KRaft, or back; may be repeated.")  # fmt: skip
@click.option("--release", default="3.9.2", show_default=True, help="Of the migrations.")
@click.option("--upgrade", "upgrades", multiple=True, metavar="OLDER..NEWER",
              help="A rolling upgrade; may be repeated.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="The load follows from it.")
@click.option("--out", default="results/rolling-changes", show_default=True,
              type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
def main(
    names: tuple[str, ...], release: str, upgrades: tuple[str, ...], seed: int, out: Path
) -> None:
    """Upgrade or migrate a cluster of Kafka under load, and judge the fate of each record."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        changes = [migration(name, release, out / "logs") for name in names]
        changes += [_upgrade(text, out / "logs") for text in upgrades]
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    if not changes:
        raise click.UsageError("nothing to do: name a --migration or an --upgrade OLDER..NEWER")
    try:
        played = [play(change, f"{seed}/{change.name}") for change in changes]
    except (TargetError, ResponseTimeout) as error:
        click.echo(f"the change ended: {error}", err=True)
        sys.exit(1)
    for each in played:
        _keep(each, out)
    sys.exit(1 if any(each.broken for each in played) else 0)


def _upgrade(text: str, log_dir: Path) -> ClusterChange:
    older, dots, newer = text.partition("..")
    if not (older and dots and newer):
        raise click.UsageError(f"--upgrade {text}: write OLDER..NEWER, such as 3.9.2..4.4.0")
    return rolling_upgrade(older, newer, log_dir)


def _keep(played: Played, out: Path) -> None:
    """Write the text, and the history of the records."""
    name = played.change.replace(" ", "-")
    (out / f"{name}.md").write_text(markdown(played), "utf-8")
    (out / f"{name}.history.jsonl").write_text(to_lines(played.notes.history), "utf-8")
    click.echo(markdown(played))


if __name__ == "__main__":
    main()

"""``python -m labs.client_versions NAME... [--write]``: read the version tables of clients."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click
import tomlkit

from harness.targets.errors import TargetError
from labs.client_versions.client_toml import file_of, rewritten, versions_table
from labs.client_versions.clients import CLIENTS, PinnedClient
from labs.client_versions.version_table import ReadError


@click.command()
@click.option("--write", is_flag=True, help="Put the table, its source and the date into the file.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def main(names: tuple[str, ...], write: bool) -> None:
    """Print the [versions] that the pinned source text of each client NAME has.

    Exit 0: printed or written; 2: usage; 3: a source text cannot be had or read.
    """
    for name in names:
        if name not in CLIENTS:
            raise click.UsageError(f"no client {name!r}; known: {', '.join(CLIENTS)}")
    for name in names:
        try:
            (_write if write else _print)(CLIENTS[name])
        except (TargetError, ReadError) as problem:
            click.echo(f"Error: {name}: {problem}", err=True)
            sys.exit(3)


def _print(client: PinnedClient) -> None:
    document = tomlkit.document()
    document.add("versions", versions_table(client.versions()))
    click.echo(tomlkit.dumps(document), nl=False)


def _write(client: PinnedClient) -> None:
    path = file_of(client.name, client.release)
    text = path.read_text("utf-8") if path.exists() else ""
    head = {"client": client.name, "release": client.release, "source": client.source}
    today = datetime.now(UTC).date()
    path.write_text(rewritten(text, head, today, client.versions()), "utf-8")
    click.echo(f"{path.name}: written")


if __name__ == "__main__":
    main()

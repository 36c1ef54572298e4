"""``kafka-conformance lab clients``: the releases of the clients here, and the calls of each."""

from __future__ import annotations

import click

from labs.clients.table import offers_table, releases_table


@click.command()
def main() -> None:
    """List the clients with their releases, and the calls that each client offers."""
    click.echo(releases_table())
    click.echo(offers_table(), nl=False)


if __name__ == "__main__":
    main()

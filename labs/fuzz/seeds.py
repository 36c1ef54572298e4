"""``python -m labs.fuzz.seeds [TARGET...]``: make the committed seeds anew."""

from __future__ import annotations

import click

from labs.fuzz.corpus import write_seeds
from labs.fuzz.targets import SHARES, load_target


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
def main(targets: tuple[str, ...]) -> None:
    """From rich messages, our own encoders and what a real Kafka said once."""
    for name in targets or SHARES:
        click.echo(f"{name}: {write_seeds(name, load_target(name).seeds())} inputs")


if __name__ == "__main__":
    main()

"""``python -m harness.targets.containers.build kafka:RELEASE|reference``: an image, no registry.

The image is named ``kafka-conformance/kafka:RELEASE`` or ``kafka-conformance/reference:latest``,
or as ``--tag`` says, and is judged as ``docker:NAME``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.targets.containers.context import Recipe, recipe_for, write_context
from harness.targets.containers.daemon import asked, connect, said
from harness.targets.errors import TargetError

if TYPE_CHECKING:
    from docker import DockerClient

REPOSITORY = "kafka-conformance"


def default_tag(what: str) -> str:
    """Return the default tag of an image."""
    name, _, release = what.partition(":")
    return f"{REPOSITORY}/{name}:{release or 'latest'}"


def build_image(client: DockerClient, recipe: Recipe, tag: str) -> str:
    """Build and name it; the image's id. Raises TargetError with the daemon's last words."""
    from docker.errors import BuildError

    with tempfile.TemporaryFile() as context:
        write_context(recipe, context)
        context.seek(0)
        with asked(f"build the image {tag}"):
            try:
                image, _ = client.images.build(
                    fileobj=context,
                    custom_context=True,
                    tag=tag,
                    buildargs={"RELEASE": recipe.release},
                    rm=True,
                    forcerm=True,
                )
            except BuildError as problem:
                raise TargetError(f"the image {tag} cannot be built: {said(problem)}") from problem
    return str(image.id)


@click.command()
@click.argument("what", metavar="kafka:RELEASE|reference")
@click.option("--tag", help="What to name the image.")
@click.option(
    "--context",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the build context to this tar file instead of building.",
)
def main(what: str, tag: str | None, context: Path | None) -> None:
    """Build the image of a Kafka release (one node, KRaft) or of the reference broker."""
    try:
        if context is not None:
            with context.open("wb") as out:
                write_context(recipe_for(what), out)
            click.echo(context)
            return
        client = connect()
        name = tag or default_tag(what)
        build_image(client, recipe_for(what), name)
        click.echo(f"docker:{name}")
    except (TargetError, OSError) as problem:
        click.echo(f"error: {problem}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()

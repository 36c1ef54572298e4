"""The value of an option that names a release of Kafka."""

from __future__ import annotations

import re

import click


def release_word(
    context: click.Context, parameter: click.Parameter, word: str | None
) -> str | None:
    """Return the value if it is a release such as 3.7 or 2.7.2; raises click.BadParameter else."""
    if word is not None and not re.fullmatch(r"\d+(\.\d+)*", word, re.ASCII):
        raise click.BadParameter(f"{word} is no release, such as 2.7.2", context, parameter)
    return word

"""The value of an option that names a release of Kafka."""

from __future__ import annotations

import re

import click

from harness.codec.releases import release_numbers
from harness.log_tools.release_limits import FEATURES


def release_word(
    context: click.Context, parameter: click.Parameter, word: str | None
) -> str | None:
    """Return the value if it is a release such as 3.7 or 2.7.2; raises click.BadParameter else."""
    if word is not None and not re.fullmatch(r"\d+(\.\d+)*", word, re.ASCII):
        raise click.BadParameter(f"{word} is no release, such as 2.7.2", context, parameter)
    return word


def known_release(
    context: click.Context, parameter: click.Parameter, word: str | None
) -> str | None:
    """Return a release with its minor number that is not newer than the newest known one.

    Raises click.BadParameter for another.
    """
    release = release_word(context, parameter, word)
    if release is None:
        return None
    numbers, newest = release_numbers(release), max(map(release_numbers, FEATURES))
    if len(numbers) < len(newest):
        raise click.BadParameter(f"{word} is no release, such as 2.7.2", context, parameter)
    if numbers[: len(newest)] > newest:
        known = ".".join(map(str, newest))
        raise click.BadParameter(
            f"{word} is newer than {known}, the newest known", context, parameter
        )
    return release

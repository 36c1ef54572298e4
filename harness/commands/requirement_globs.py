"""Patterns of requirement ids on a command line."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import click

from harness.base.suggestion import did_you_mean
from harness.conformance.catalogue import load_catalogue


def matching(glob: str) -> list[str]:
    """The ids of the catalogue that a pattern such as ``PROD-*`` means, in its order.

    Raises UsageError, with the nearest id or area, when it means none.
    """
    catalogue = load_catalogue()
    found = [name for name in catalogue.requirements if fnmatchcase(name, glob)]
    if found:
        return found
    known = [*catalogue.requirements, *(f"{area}-*" for area in catalogue.areas)]
    near = did_you_mean(glob, known)
    raise click.UsageError(
        f'no requirement matches "{glob}" in catalogue {catalogue.version}{near}'
    )


def require_known(globs: Sequence[str]) -> None:
    """Raises UsageError at the first pattern that means no requirement."""
    for glob in globs:
        matching(glob)

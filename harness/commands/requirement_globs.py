"""Patterns of requirement ids on a command line."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import click

from harness.base.suggestion import did_you_mean
from harness.conformance.catalogue import BY_CLIENTS, load_catalogue


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


def asked_by_clients(requirement_id: str) -> bool:
    """True if clients of other projects judge it, and not the requests of a run."""
    catalogue = load_catalogue()
    area = catalogue.areas[catalogue.requirement(requirement_id).area]
    return area.asked_by == BY_CLIENTS


def require_some_of_a_run(globs: Sequence[str]) -> None:
    """Raises UsageError at a pattern that means no requirement.

    Also when clients of other projects judge all that the patterns mean.
    """
    found = {name for glob in globs for name in matching(glob)}
    if found and all(map(asked_by_clients, found)):
        raise click.UsageError(
            f"{' '.join(globs)}: clients of other projects judge that: "
            "kafka-conformance clients --client NAME"
        )


def require_known(globs: Sequence[str]) -> None:
    """Raises UsageError at the first pattern that means no requirement."""
    for glob in globs:
        matching(glob)

"""The mutants that a target can show, and samples of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from labs.mutation.enumeration import modules, mutants_of
from labs.mutation.mutant import Mutant

SUITES = {"reference": ("suites/protocol",), "reference,disk": ("suites/durability",)}
CLUSTER = ("suites/replication", "suites/durability/private")
ONE_NODE, ON_DISK = "reference", "reference,disk"
_OF_DISKS = ("storage", "state.replica_moves", "state.cleaning", "state.log", "state.producers")
_OF_CLUSTERS = ("cluster", "state.controller", "state.registrations", "state.metadata",
                "state.partition", "handlers.api_56_", "handlers.api_6",
                "handlers.api_73_")  # fmt: skip
_ALWAYS = "release"
"""The operator of rules of releases: without ``like=`` the broker is as new as can be."""


def every_mutant() -> list[Mutant]:
    """Return all mutants of the source."""
    return [one for module, file in modules() for one in mutants_of(module, file.read_text())]


def population(every: Sequence[Mutant], spec: str) -> list[Mutant]:
    """Return the mutants that this target can show.

    One node in memory shows all but what only disks or several nodes have; the others show what
    they have besides.
    """
    if spec == ONE_NODE:
        chosen = [one for one in every if not _is_of(one, ("storage", "cluster"))]
    else:
        places = _OF_DISKS if spec == ON_DISK else _OF_CLUSTERS
        chosen = [one for one in every if _is_of(one, places)]
    if "like=" in spec:
        return chosen
    return [one for one in chosen if (one.operator, one.after) != (_ALWAYS, "True")]


def sample(every: Sequence[Mutant], spec: str, count: int, seed: int) -> list[Mutant]:
    """Return a random part of the population, the same for the same seed and source."""
    whole = population(every, spec)
    return random.Random(seed).sample(whole, min(count, len(whole)))


def suites_of(spec: str) -> tuple[str, ...]:
    """Return the folders of tests that are run on this target."""
    return SUITES.get(spec, SUITES[ONE_NODE] if "nodes=" not in spec else CLUSTER)


def _is_of(mutant: Mutant, places: tuple[str, ...]) -> bool:
    return mutant.area_path.startswith(places)

"""The mutants that a target can show, and samples of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from labs.mutation.enumeration import modules, mutants_of
from labs.mutation.mutant import Mutant

SUITES = {"reference": ("suites/protocol",), "reference,disk": ("suites/durability",)}
CLUSTER = ("suites/replication", "suites/durability/private")
ONE_NODE, ON_DISK = "reference", "reference,disk"
_OF_DISKS = (
    "storage",
    "file_part",
    "state.replica_moves",
    "state.cleaning",
    "state.log",
    "state.producers",
)
_OF_CLUSTERS = ("cluster", "state.controller", "state.registrations", "state.metadata",
                "state.partition", "handlers.api_56_", "handlers.api_58_", "handlers.api_59_",
                "handlers.api_6", "handlers.api_73_")  # fmt: skip
_NOT_OF_ONE_NODE = ("storage", "file_part", "cluster", "state.controller", "state.metadata",
                    "state.partition.following", "state.replica_moves",
                    *(f"handlers.api_{key}_" for key in (56, 58, 59, 62, 63, 64, 67, 73)),
                    )  # fmt: skip
"""Rooms of files, of a controller, and of brokers that talk to each other."""
_ALWAYS = "release"
"""The operator of rules of releases: without ``like=`` the broker is as new as can be."""


def every_mutant() -> list[Mutant]:
    """Return all mutants of the source."""
    return [one for module, file in modules() for one in mutants_of(module, file.read_text())]


def population(every: Sequence[Mutant], spec: str) -> list[Mutant]:
    """Return the mutants that this target can show.

    One node in memory shows all but the rooms that only files or several nodes use; the others
    show these rooms, and those in which they differ from one node.
    """
    if spec == ON_DISK:
        chosen = [one for one in every if _is_of(one, _OF_DISKS)]
    elif "nodes=" in spec:
        chosen = [one for one in every if _is_of(one, _OF_CLUSTERS)]
    else:
        chosen = [one for one in every if not _is_of(one, _NOT_OF_ONE_NODE)]
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

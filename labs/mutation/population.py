"""The mutants that a target can show, and samples of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

from labs.mutation.enumeration import modules, mutants_of
from labs.mutation.executed import BrokerFunction, Executed
from labs.mutation.mutant import Mutant

ONE_NODE, ON_DISK, CLUSTER = "reference", "reference,disk", "reference,nodes=3"
SUITES = {
    ONE_NODE: ("suites/protocol",),
    ON_DISK: ("suites/durability",),
    CLUSTER: ("suites/replication", "suites/durability/private"),
}
PARTS = {
    "transactions": (
        *(f"handlers.api_{key}_" for key in (22, *range(24, 29), 61, 65, 66)),
        "handlers.transaction",
        "state.transactions",
        "state.producers",
        "state.groups.pending_offsets",
        "state.partition.last_stable_offset",
        "state.partition.coordinator_append",
        "state.cleaning.cleaned_transactions",
        "state.validation.producer_check",
        "cluster.marker_sender",
        "cluster.transaction_checks",
    )
}
"""Modules of a feature, from which a sample of its own can be drawn."""
_DIFFERS = {
    ON_DISK: (
        "storage",
        "file_part",
        "state.replica_moves",
        "state.cleaning",
        "state.log",
        "state.producers",
    ),
    CLUSTER: (
        "cluster",
        "state.controller",
        "state.registrations",
        "state.metadata",
        "state.partition",
        *(f"handlers.api_{key}_" for key in (56, 58, 59, *range(60, 70), 73)),
    ),
}
"""Modules in which a target differs from one node in memory."""
_NOT_OF_ONE_NODE = ("storage", "file_part", "cluster", "state.controller", "state.metadata",
                    "state.partition.following", "state.replica_moves",
                    *(f"handlers.api_{key}_" for key in (56, 58, 59, 62, 63, 64, 67, 73)),
                    )  # fmt: skip
"""Modules of files, of a controller, and of brokers that talk to each other."""
_ALWAYS = "release"
"""The operator of rules of releases: without ``like=`` the broker is as new as can be."""


@cache
def every_mutant() -> tuple[Mutant, ...]:
    """Return all mutants of the source; it is searched once a process, which takes seconds."""
    return tuple(one for module, file in modules() for one in mutants_of(module, file.read_text()))


def population(every: Sequence[Mutant], spec: str, executed: Executed) -> list[Mutant]:
    """Return the mutants that this target can show.

    One node in memory shows the functions that its tests execute. The others show those of their
    modules, and those that no test of one node executes. A function that no test executes, or that
    is new, belongs to the target of its module.
    """
    shown = _without_release(spec)

    def is_shown(one: Mutant) -> bool:
        targets = executed.get(BrokerFunction(one.area_path, one.function), frozenset())
        if targets.isdisjoint({spec, shown}):
            return not targets and shown in _targets_of_module(one)
        if shown == ONE_NODE:
            return True
        differing = {target for target, places in _DIFFERS.items() if _is_of(one, places)}
        return shown in differing or (ONE_NODE not in targets and differing.isdisjoint(targets))

    chosen = [one for one in every if is_shown(one)]
    if "like=" in spec:
        return chosen
    return [one for one in chosen if (one.operator, one.after) != (_ALWAYS, "True")]


def sample(
    every: Sequence[Mutant], spec: str, count: int, seed: int, executed: Executed
) -> list[Mutant]:
    """Return a random part of the population, the same for the same seed and source."""
    whole = population(every, spec, executed)
    return random.Random(seed).sample(whole, min(count, len(whole)))


def suites_of(spec: str) -> tuple[str, ...]:
    """Return the folders of tests that are run on this target."""
    return SUITES[_without_release(spec)]


def of_part(every: Sequence[Mutant], part: str) -> list[Mutant]:
    """Return the mutants of the modules of a part."""
    return [one for one in every if _is_of(one, PARTS[part])]


def _without_release(spec: str) -> str:
    return CLUSTER if "nodes=" in spec else ON_DISK if "disk" in spec.split(",") else ONE_NODE


def _targets_of_module(mutant: Mutant) -> Iterator[str]:
    if not _is_of(mutant, _NOT_OF_ONE_NODE):
        yield ONE_NODE
    yield from (target for target, places in _DIFFERS.items() if _is_of(mutant, places))


def _is_of(mutant: Mutant, places: tuple[str, ...]) -> bool:
    return mutant.area_path.startswith(places)

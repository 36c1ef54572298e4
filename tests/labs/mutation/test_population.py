"""The mutants that each target can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from labs.mutation import executed
from labs.mutation.executed import BrokerFunction, Executed
from labs.mutation.mutant import Mutant
from labs.mutation.population import every_mutant, population, sample, suites_of

KNOWN = executed.read()


@pytest.fixture(scope="module")
def every() -> Sequence[Mutant]:
    """All mutants; a search of the whole source finds them."""
    return every_mutant()


def test_one_node_in_memory_shows_no_disk_and_no_cluster(every: Sequence[Mutant]) -> None:
    places = {one.area_path.split(".")[0] for one in population(every, "reference", KNOWN)}
    assert not places & {"storage", "cluster"}
    assert {"handlers", "state", "connection"} <= places


def test_each_mutant_belongs_to_a_target(every: Sequence[Mutant]) -> None:
    specs = {spec for targets in KNOWN.values() for spec in targets}
    shown = {one for spec in specs for one in population(every, spec, KNOWN)}
    left = [one.name for one in every if one not in shown and one.operator != "release"]
    assert left == []


def test_function_that_only_another_target_executes_is_left_out(every: Sequence[Mutant]) -> None:
    own = next(one for one in every if one.area_path == "state.log.segments")
    function = BrokerFunction(own.area_path, own.function)

    def shown(*targets: str) -> list[bool]:
        known: Executed = {function: frozenset(targets)}
        specs = ("reference", "reference,disk", "reference,nodes=3")
        return [own in population(every, spec, known) for spec in specs]

    assert shown("reference") == [True, False, False]
    assert shown("reference", "reference,disk") == [True, True, False]
    assert shown("reference,nodes=3") == [False, False, True]
    assert shown("reference,disk", "reference,nodes=3") == [False, True, False]
    assert shown() == [True, True, False]


@pytest.mark.parametrize(
    ("spec", "own", "others"),
    [("reference,disk", "storage", "cluster"), ("reference,nodes=3", "cluster", "storage")],
)
def test_other_targets_show_what_they_have_besides(
    every: Sequence[Mutant], spec: str, own: str, others: str
) -> None:
    found = Counter(one.area_path.split(".")[0] for one in population(every, spec, KNOWN))
    assert found[own] > 5 * found[others]
    assert not found["request_buffer"]


def test_rule_that_holds_in_every_release_needs_older_release(every: Sequence[Mutant]) -> None:
    def rules(spec: str) -> set[str]:
        return {one.after for one in population(every, spec, KNOWN) if one.operator == "release"}

    assert rules("reference") == {"False"}
    assert rules("reference,like=2.8.2") == {"True", "False"}


def test_same_seed_draws_same_sample(every: Sequence[Mutant]) -> None:
    first, second, other = [sample(every, "reference", 20, seed, {}) for seed in (1, 1, 2)]
    assert first == second
    assert first != other
    assert len(first) == 20


def test_suites_of_targets() -> None:
    assert suites_of("reference,like=2.8.2") == ("suites/protocol",)
    assert suites_of("reference,disk") == ("suites/durability",)
    assert "suites/replication" in suites_of("reference,nodes=3")

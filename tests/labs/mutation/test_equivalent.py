"""The table of equivalent mutants, and what it does to a score."""

from __future__ import annotations

import pytest

from labs.mutation import equivalent
from labs.mutation.equivalent import EquivalentMutant, KnownEquivalents
from labs.mutation.mutant import Mutant
from labs.mutation.noticed import stable_names
from labs.mutation.population import every_mutant
from labs.mutation.score import summary
from labs.mutation.verdicts import Fate, JudgedMutant

ONE = Mutant("boundary", "harness.reference_broker.any", "function", 2, 4, 0, "a < b", "a <= b")


@pytest.mark.rotates(8)  # it makes all mutants of the broker
def test_each_equivalent_mutant_is_in_the_source_and_has_a_reason() -> None:
    there = {name for name, _ in stable_names(every_mutant())}
    rows = equivalent.read()
    assert rows
    assert [row for row in rows if row.mutant not in there or not row.reason] == []


@pytest.mark.parametrize(
    ("target", "fate", "expected"),
    [
        ("*", Fate.SURVIVED, Fate.EQUIVALENT),
        ("reference", Fate.SURVIVED, Fate.EQUIVALENT),
        ("reference,nodes=3", Fate.SURVIVED, Fate.SURVIVED),
        ("*", Fate.NOTICED, Fate.NOTICED),
        ("*", Fate.NOT_REACHED, Fate.NOT_REACHED),
    ],
)
def test_survivor_of_the_table_is_equivalent_on_its_target(
    target: str, fate: Fate, expected: Fate, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((name, _),) = stable_names([ONE])
    rows = [EquivalentMutant(name, target, "any")]
    monkeypatch.setattr(equivalent, "read", lambda: rows)
    known = KnownEquivalents([ONE], "reference")
    assert known.reviewed(JudgedMutant(ONE, fate)).verdict is expected


def test_score_counts_equivalent_mutants_apart() -> None:
    fates = [Fate.NOTICED, Fate.NOT_REACHED, Fate.EQUIVALENT]
    lines = list(summary([JudgedMutant(ONE, fate) for fate in fates], 1.0))
    assert lines[0] == "1 of 2 noticed in 1 s"
    assert "  boundary: 1 of 2" in lines
    assert any("more than 10% are equivalent" in line for line in lines)

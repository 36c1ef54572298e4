"""The published score of a target, and the survivors of its sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.conformance.mutation_score import read_score
from labs.mutation.areas import first_area
from labs.mutation.equivalent import KnownEquivalents
from labs.mutation.mutant import Mutant
from labs.mutation.mutant_report import MutantReport, noticed_elsewhere, survivors_in
from labs.mutation.noticed import rows_of
from labs.mutation.population import every_mutant
from labs.mutation.published import counts_of, publish_score, publish_survivors
from labs.mutation.verdicts import Fate, JudgedMutant
from reports.mutant_matrix import FATES


def _judged(every: Sequence[Mutant]) -> list[JudgedMutant]:
    fates = [Fate.NOTICED, Fate.NOTICED, Fate.SURVIVED, Fate.NOT_REACHED, Fate.EQUIVALENT]
    return [JudgedMutant(every[0], fate) for fate in fates]


def test_new_sample_replaces_only_that_of_its_target(tmp_path: Path) -> None:
    file, judged = tmp_path / "score.tsv", _judged(every_mutant())
    for spec, seed in (("reference", 1), ("reference,disk", 2), ("reference", 3)):
        publish_score(counts_of(judged, spec, seed), spec, file)
    found = {(one.target, one.seed, one.fate, one.mutants) for one in read_score(file)}
    fates = (("noticed", 2), ("survived", 1), ("not_reached", 1), ("equivalent", 1))
    assert found == {
        (target, seed, *fate)
        for target, seed in (("reference,disk", 2), ("reference", 3))
        for fate in fates
    }


def test_survivors_are_recorded_by_target_with_their_change(tmp_path: Path) -> None:
    file, every = tmp_path / "survivors.tsv", every_mutant()
    file.write_text("head\n", "utf-8")
    publish_survivors(_judged(every), every, "reference,disk", file)
    publish_survivors(_judged(every), every, "reference", file)
    publish_survivors([], every, "reference,disk", file)
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines()]
    assert [row[:2] for row in rows[1:]] == [
        ["reference", "not_reached"],
        ["reference", "survived"],
    ]
    assert rows[1][2:5] == [every[0].operator, every[0].area_path, every[0].function]


def test_survivor_that_another_target_notices_counts_as_noticed() -> None:
    first, second, third = every_mutant()[:3]
    here = [
        JudgedMutant(first, Fate.SURVIVED),
        JudgedMutant(second, Fate.UNDECIDED),
        JudgedMutant(third, Fate.NOTICED),
    ]
    there = [
        JudgedMutant(first, Fate.NOTICED, "REASG-001", "a reason", "replication/test_it.py::test"),
        JudgedMutant(second, Fate.SURVIVED),
    ]
    found = noticed_elsewhere(here, there)
    assert [one.verdict for one in found] == [Fate.OTHER_TARGET, Fate.UNDECIDED, Fate.NOTICED]
    assert found[0].requirement == "REASG-001"
    assert list(rows_of(found, every_mutant())) == []


def test_survivors_of_file_are_those_that_are_not_noticed(tmp_path: Path) -> None:
    file, every = tmp_path / "out.jsonl", every_mutant()
    report = MutantReport(KnownEquivalents(every, "reference"), file)
    for mutant, fate in zip(every, Fate, strict=False):
        report.add(JudgedMutant(mutant, fate))
    left = {Fate.UNDECIDED, Fate.SURVIVED, Fate.NOT_REACHED, Fate.EQUIVALENT}
    assert survivors_in(file) == [m for m, fate in zip(every, Fate, strict=False) if fate in left]


def test_page_knows_every_fate() -> None:
    assert {fate.name.lower() for fate in Fate} == set(FATES)


def test_first_area_of_module_counts() -> None:
    assert first_area("handlers.api_00_produce") == "PROD"
    assert first_area("wall_clock") == "other"

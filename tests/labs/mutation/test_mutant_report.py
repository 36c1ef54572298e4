"""A run that was interrupted goes on with the results in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from labs.mutation.equivalent import KnownEquivalents
from labs.mutation.mutant import Mutant
from labs.mutation.mutant_report import MutantReport, OtherSample, judged_in
from labs.mutation.verdicts import Fate, JudgedMutant


def _mutant(line: int, after: str = "b") -> Mutant:
    return Mutant("turned", "harness.reference_broker.a", "f", line, 1, 0, "a", after)


FIRST, SECOND = _mutant(1), _mutant(2)
RESULT = JudgedMutant(FIRST, Fate.NOTICED, "FETCH-001", "why", "a_case", 3, 1.5)


def _report(file: Path) -> MutantReport:
    return MutantReport(KnownEquivalents([FIRST, SECOND], "reference"), file)


def test_results_in_file_count_and_only_other_mutants_are_left(tmp_path: Path) -> None:
    file = tmp_path / "sample.jsonl"
    _report(file).add(RESULT)
    again = _report(file)
    assert again.left_of([FIRST, SECOND]) == [SECOND]
    assert again.judged == [RESULT]


def test_without_file_all_mutants_are_left(tmp_path: Path) -> None:
    report = _report(tmp_path / "sample.jsonl")
    assert report.left_of([FIRST, SECOND]) == [FIRST, SECOND]
    assert report.judged == []


def test_last_line_that_is_cut_is_judged_again(tmp_path: Path) -> None:
    file = tmp_path / "sample.jsonl"
    report = _report(file)
    report.add(RESULT)
    report.add(JudgedMutant(SECOND, Fate.SURVIVED))
    file.write_bytes(file.read_bytes()[:-5])
    again = _report(file)
    assert again.left_of([FIRST, SECOND]) == [SECOND]
    again.add(JudgedMutant(SECOND, Fate.GONE))
    assert judged_in(file) == [RESULT, JudgedMutant(SECOND, Fate.GONE)]


@pytest.mark.parametrize("other", [_mutant(3), _mutant(1, "c")], ids=["another", "changed"])
def test_file_of_other_sample_is_refused(tmp_path: Path, other: Mutant) -> None:
    file = tmp_path / "sample.jsonl"
    _report(file).add(JudgedMutant(other, Fate.SURVIVED))
    with pytest.raises(OtherSample, match=r"sample\.jsonl has turned@a:\d:1#0, which is not"):
        _report(file).left_of([FIRST, SECOND])

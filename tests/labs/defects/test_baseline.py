"""The verdicts without a defect, read from a run of the suites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, cast

import pytest

from harness.conformance.summary import RunSummary
from harness.conformance.verdict import Verdict
from labs.defects import row_worker
from labs.defects.baseline import UnfitBaseline, read_baseline
from labs.defects.defect import Where
from labs.defects.row_items import ends_first
from labs.defects.row_session import RowSession
from labs.defects.row_unit import Message, RowFound, RowUnseen, Unit, UnitDone
from labs.defects.row_worker import RowWorker
from tests.conformance.made import check, header, write_run
from tests.labs.defects.test_row_limit import Marked

JUDGED, ROW = "APIV-001", "one_api_is_listed_twice"
UNIT = Unit(Where.BUILT_IN, (JUDGED,), (ROW,))
SEVERAL = replace(UNIT, rows=(ROW, "blanks_in_names_are_accepted"))


def test_newest_run_of_the_target_is_the_baseline(tmp_path: Path) -> None:
    later = "2026-05-02T10:00:00+00:00"
    write_run(tmp_path, [check(JUDGED, Verdict.NOT_SUPPORTED)])
    write_run(tmp_path, [check(JUDGED)], about=header("r2", started_at=later))
    write_run(tmp_path, [check("META-001")], about=header("r3", "kafka:4.4.0", later))
    found = read_baseline(tmp_path, "reference")
    assert found is not None
    assert {name: one.verdict for name, one in found.requirements.items()} == {
        JUDGED: Verdict.PASSED
    }


@pytest.mark.parametrize("folder", ["missing", "."])
def test_folder_without_run_of_the_target_gives_no_baseline(tmp_path: Path, folder: str) -> None:
    write_run(tmp_path, [check(JUDGED)], about=header(target="kafka:4.4.0"))
    assert read_baseline(tmp_path / folder, "reference") is None


@pytest.mark.parametrize(
    ("verdict", "footer", "problem"),
    [
        (Verdict.FAILED, True, "APIV-001"),
        (Verdict.HARNESS_ERROR, True, "harness_error"),
        (Verdict.PASSED, False, "incomplete"),
    ],
)
def test_run_that_is_not_whole_and_clean_is_refused(
    tmp_path: Path, verdict: Verdict, footer: bool, problem: str
) -> None:
    write_run(tmp_path, [check(JUDGED, verdict)], footer=footer)
    with pytest.raises(UnfitBaseline, match=problem):
        read_baseline(tmp_path, "reference")


def test_last_and_first_case_of_each_function_come_first() -> None:
    names = ["one[v0]", "one[v1]", "one[v2]", "two[v0]", "two[v1]", "three"]
    ordered = ends_first([cast("pytest.Item", Marked(name)) for name in names])
    assert [item.nodeid for item in ordered] == [
        *("one[v2]", "two[v1]", "three"),
        *("one[v0]", "two[v0]", "one[v1]"),
    ]


class CountedSession:
    """In place of a session; ``runs`` gets the name of each run, which all have one outcome."""

    items = (Marked(),)
    running = None

    def __init__(self, found: RunSummary) -> None:
        self.found = found
        self.runs: list[str] = []
        self.before_each = self.until = lambda: None

    def run(self, items: object, make_target: object, out: Path, name: str) -> RunSummary:
        self.runs.append(name)
        return self.found

    run_imported_anew = run


def _judged(
    baseline: RunSummary | None,
    found: RunSummary,
    unit: Unit,
    folder: Path,
    spec: str = "reference",
) -> tuple[list[Message], Sequence[str]]:
    """Return what a worker sends about a unit, and the runs that it makes."""
    session, sent = CountedSession(found), list[Message]()
    output = cast("IO[str]", None)
    worker = RowWorker(cast("RowSession", session), spec, False, folder, output, baseline)
    worker.judge(unit, sent.append)
    return sent, session.runs


@pytest.fixture(autouse=True)
def _no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_worker.RowWorker, "_begin_limit", lambda _: None)


def _run(folder: Path, verdict: Verdict) -> RunSummary:
    write_run(folder, [check(JUDGED, verdict)])
    found = read_baseline(folder, "reference")
    assert found is not None
    return found


def test_row_with_baseline_makes_no_run_without_a_defect(tmp_path: Path) -> None:
    passed = _run(tmp_path / "passed", Verdict.PASSED)
    sent, runs = _judged(passed, passed, UNIT, tmp_path)
    assert runs == ["run-1-one-api-is-listed-twice"]
    (row,) = [one for one in sent if isinstance(one, RowFound)]
    assert row.problem == f"not noticed: {JUDGED} is passed"
    assert UnitDone(frozenset({JUDGED})) in sent


def test_several_rows_with_baseline_make_one_run_each(tmp_path: Path) -> None:
    passed = _run(tmp_path / "passed", Verdict.PASSED)
    _, runs = _judged(passed, passed, SEVERAL, tmp_path)
    assert runs == [f"run-{n}-{row.replace('_', '-')}" for n, row in enumerate(SEVERAL.rows, 1)]


def test_several_rows_without_baseline_make_a_clean_run_before_and_after(tmp_path: Path) -> None:
    passed = _run(tmp_path / "passed", Verdict.PASSED)
    _, runs = _judged(None, passed, SEVERAL, tmp_path, "external:127.0.0.1:9")
    assert [runs[0], runs[-1]] == ["run-1-clean", "run-4-clean"]
    assert len(runs) == 4


def test_several_rows_on_the_built_in_broker_make_one_clean_run_before(tmp_path: Path) -> None:
    passed = _run(tmp_path / "passed", Verdict.PASSED)
    _, runs = _judged(None, passed, SEVERAL, tmp_path)
    assert [one.endswith("-clean") for one in runs] == [True, False, False]


def test_row_without_baseline_makes_a_run_without_a_defect(tmp_path: Path) -> None:
    passed = _run(tmp_path / "passed", Verdict.PASSED)
    _, runs = _judged(None, passed, UNIT, tmp_path)
    assert runs == ["run-1-clean", "run-2-one-api-is-listed-twice"]


@pytest.mark.parametrize(
    "unit",
    [*UNIT.one_by_one(), Unit(Where.BUILT_IN, ("APIV-*",), (ROW,))],
    ids=["second-look", "whole-area"],
)
def test_row_that_needs_more_than_one_verdict_makes_its_own_run(tmp_path: Path, unit: Unit) -> None:
    passed = _run(tmp_path / "passed", Verdict.PASSED)
    _, runs = _judged(passed, passed, unit, tmp_path)
    assert runs[0] == "run-1-clean"


def test_row_of_requirement_that_the_baseline_lacks_makes_its_own_run(tmp_path: Path) -> None:
    passed = _run(tmp_path / "passed", Verdict.PASSED)
    lacking = replace(passed, requirements={})
    _, runs = _judged(lacking, passed, UNIT, tmp_path)
    assert runs[0] == "run-1-clean"


def test_row_of_requirement_that_the_run_does_not_support_is_unseen(tmp_path: Path) -> None:
    lacks = _run(tmp_path / "lacks", Verdict.NOT_SUPPORTED)
    sent, runs = _judged(lacks, lacks, UNIT, tmp_path)
    assert runs == []
    assert RowUnseen(ROW) in sent

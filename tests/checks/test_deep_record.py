"""The lines of the runs at depth, and how old the newest green ones are."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from checks import deep_record
from checks.deep_parts import DEEP
from checks.deep_record import DeepRun, ages, append, deep_run, read
from checks.draw import Draw
from checks.part import Part, Slice
from checks.part_run import Result, SliceRow

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FUZZ = Part("fuzz", count=2, rooms=("harness/codec",))
LINT = Part("lint")


def line(part: str, at: str = "2026-11-26T12:00Z", commit: str = "c1", verdict: str = "passed"):  # type: ignore[no-untyped-def]
    return DeepRun(commit, at, part, "-", "1..1", "5", verdict)


@pytest.fixture(autouse=True)
def _nothing_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_record, "changed_since", lambda _: [])


def test_written_runs_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "runs.tsv"
    runs = [line("fuzz:1/2"), line("lint", verdict="FAILED")]
    for run in runs:
        append(run, file)
    assert read(file) == runs
    assert file.read_text("utf-8").splitlines()[0].split("\t")[:3] == ["commit", "at", "part"]


def test_line_without_column_raises_error_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "runs.tsv"
    append(line("lint"), file)
    file.write_text(file.read_text("utf-8") + "c2\tonly\n", "utf-8")
    with pytest.raises(ValueError, match=r"runs\.tsv:3 has 2 columns instead of 7"):
        read(file)


def test_missing_file_contains_no_runs(tmp_path: Path) -> None:
    assert read(tmp_path / "none.tsv") == []


def test_deep_run_contains_seeds_and_counts() -> None:
    row = SliceRow(Slice(Part("x", count=2, seeds=5), 2), Result.PASSED, 61.4, 3.0, "7 passed")
    draw = Draw("w")
    run = deep_run(row, draw)
    first = draw.number + 5
    assert (run.part, run.counts, run.seconds) == ("x:2/2", "7 passed", "61")
    assert run.seeds == f"{first}..{first + 4}"


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([], "fuzz: 2 of 2 slices have no green run on record"),
        ([line("fuzz:1/2")], "fuzz: 1 of 2 slices have no green run on record"),
        ([line("fuzz:1/2"), line("fuzz:2/2", verdict="FAILED")], "fuzz: 1 of 2 slices have no"),
        ([line("fuzz:1/2"), line("fuzz:2/2", commit="c2+changes")], "fuzz: 1 of 2 slices have no"),
        ([line("fuzz:1/2"), line("fuzz:2/3")], "fuzz: 1 of 2 slices have no"),
        (
            [line("fuzz:1/2", "2026-11-20T12:00Z", "old"), line("fuzz:2/2")],
            "fuzz: green 10 days ago at old",
        ),
        (
            [line("fuzz:1/2", "2026-11-20T12:00Z"), line("fuzz:1/2"), line("fuzz:2/2")],
            "fuzz: green 4 days ago at c1",
        ),
    ],
)
def test_age_of_part_is_age_of_its_oldest_slice(runs: list[DeepRun], said: str) -> None:
    (found,) = ages([FUZZ], runs, NOW)
    assert found.startswith(said)
    assert "WARNING" not in found


@pytest.mark.parametrize(
    ("part", "changed", "said"),
    [
        (FUZZ, ["harness/codec/a.py"], "; WARNING: changed since: harness/codec/a.py"),
        (FUZZ, ["harness/client/a.py"], "ago at c1"),
        (LINT, ["x"], "; WARNING: changed since: x"),
        (LINT, ["a", "b", "c", "d", "e"], "; WARNING: changed since: a, b, c and 2 more"),
        (LINT, None, "at c1, a commit that is not in this repository"),
    ],
)
def test_change_in_checked_files_adds_warning(
    monkeypatch: pytest.MonkeyPatch, part: Part, changed: list[str] | None, said: str
) -> None:
    monkeypatch.setattr(deep_record, "changed_since", lambda _: changed)
    runs = [line("fuzz:1/2"), line("fuzz:2/2"), line("lint")]
    (found,) = ages([part], runs, NOW)
    assert found.endswith(said)


def test_committed_runs_name_existing_parts() -> None:
    names = {part.name for part in DEEP}
    assert {run.part.partition(":")[0] for run in read()} <= names

"""The command ``compare``: table, JSON, exit codes, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.conformance.journal import JOURNAL_NAME
from harness.conformance.parquet import ensure_parquet
from harness.conformance.results import RESULTS
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, write_run

BEFORE = (
    check("PROD-001", case="test_x.py::test_it[v3]"),
    check("PROD-002", Verdict.FAILED),
    check("PROD-003"),
    check("PROD-004", Verdict.INCONCLUSIVE),
    check("PROD-005"),
)
AFTER = (
    check("PROD-001", Verdict.FAILED, case="test_x.py::test_it[v3]", reason="[3] is not 4\nmore"),
    check("PROD-002"),
    check("PROD-003", Verdict.INCONCLUSIVE),
    check("PROD-004"),
    check("PROD-006"),
)


def _invoke(*words: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, words)])


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders of one run each: one requirement of every kind between them."""
    before, after = tmp_path / "before", tmp_path / "after"
    write_run(before, BEFORE)
    later = header(run="r2", started_at="2026-05-02T10:00:00+00:00")
    write_run(after, AFTER, about=later)
    return before, after


def test_compare_prints_table_and_counts(folders: tuple[Path, Path]) -> None:
    ended = _invoke(*folders)
    assert ended.exit_code == 1
    said = " ".join(ended.output.split())
    assert "reference: r1 (A broker 4.4.0) -> r2 (A broker 4.4.0), 0 unchanged" in said
    assert "exit 1: 1 regressed, 1 vanished, 1 fixed, 1 new, 1 not asked, 1 newly asked" in said
    assert "reference: 1 not asked, for AFTER: the run did not plan these cases" in said
    assert "reference: 1 newly asked, for BEFORE: the run did not plan these cases" in said
    assert "PROD-005" not in said
    assert "\x1b" not in ended.output


def test_compare_prints_or_writes_json(folders: tuple[Path, Path], tmp_path: Path) -> None:
    printed = _invoke(*folders, "--json", "-")
    found = json.loads(printed.output)
    assert found["exit"] == printed.exit_code == 1
    (one,) = found["comparisons"]
    assert one["before"]["run"] == "r1"
    kinds = ("regressed", "vanished", "fixed", "new", "not_asked", "newly_asked")
    assert one["counts"] == dict.fromkeys(kinds, 1) | {"unchanged": 0}
    changes = {change["kind"]: change for change in one["changes"]}
    assert changes["regressed"] == {
        "kind": "regressed",
        "requirement": "PROD-001",
        "area": "PROD",
        "level": "MUST",
        "before": "passed",
        "after": "failed",
        "cases": ["test_x.py::test_it[v3]"],
        "reason": "[3] is not 4\nmore",
        "flaky": False,
    }
    file = tmp_path / "changes.json"
    assert "regressed" in _invoke(*folders, "--json", file).output
    assert json.loads(file.read_text()) == found


def test_runs_of_other_scope_exit_0_but_with_same_scope(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    write_run(before, [check("PROD-001"), check("PROD-002")])
    write_run(after, [check("PROD-001")])
    assert "exit 0: 0 regressed, 0 vanished" in _invoke(before, after).output
    ended = _invoke(before, after, "--same-scope")
    assert (ended.exit_code, "exit 1: " in ended.output) == (1, True)
    assert json.loads(_invoke(before, after, "--same-scope", "--json", "-").output)["exit"] == 1


def test_compare_of_equal_runs_exits_0(folders: tuple[Path, Path]) -> None:
    assert _invoke(folders[0], folders[0]).exit_code == 0


def test_compare_shows_flaky_case_with_its_verdicts(folders: tuple[Path, Path]) -> None:
    third = header(run="r3", started_at="2026-05-03T10:00:00+00:00")
    same = AFTER[0].case
    write_run(folders[1], [check("PROD-001", case=same)], about=third)
    fourth = header(run="r4", started_at="2026-05-04T10:00:00+00:00")
    write_run(folders[1], [check("PROD-001", Verdict.FAILED, case=same)], about=fourth)
    said = " ".join(_invoke(*folders).output.split())
    assert "flaky: reference 4.4.0 PROD-001 test_x.py::test_it[v3]: passed (r1, attempt 1)" in said
    assert "failed (r2, attempt 1)" in said
    assert "regressed, flaky" in said


def test_compare_gives_same_json_for_run_folders_and_parquet(folders: tuple[Path, Path]) -> None:
    by_journal = _invoke(folders[0] / "runs" / "r1", folders[1] / "runs" / "r2", "--json", "-")
    for folder in folders:
        ensure_parquet(RESULTS, folder)
        shutil.rmtree(folder / "runs")
    whole = _invoke(*folders, "--json", "-")
    parts = [next((folder / "results").iterdir()) for folder in folders]
    assert by_journal.exit_code == 1
    assert whole.output == by_journal.output == _invoke(*parts, "--json", "-").output


def _damaged(folder: Path) -> Path:
    journal = folder / "runs" / "r1" / JOURNAL_NAME
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([*lines[:2], lines[2][:40], *lines[3:]]) + "\n")
    return folder


def _other_schema(folder: Path) -> Path:
    from harness.conformance.arrow import pq

    ensure_parquet(RESULTS, folder)
    shutil.rmtree(folder / "runs")
    (part,) = (folder / "results").rglob("*.parquet")
    table = pq.ParquetFile(part).read()
    metadata = {**table.schema.metadata, b"kafka_conformance.results_schema_version": b"99"}
    pq.write_table(table.replace_schema_metadata(metadata), part)
    return folder


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder / "runs" / "r1")
    return folder


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: folder / "nowhere", "there is no such folder"),
        (lambda folder: folder.parent, "holds neither runs/ nor results/"),
        (_empty, "there is no run in it"),
        (_damaged, "line 3 is not JSON"),
        (lambda folder: _damaged(folder) / "runs" / "r1", "line 3 is not JSON"),
        (_other_schema, 'has results schema version "99", this reader knows'),
        (lambda folder: next((_other_schema(folder) / "results").iterdir()), 'version "99"'),
    ],
)
def test_compare_of_unreadable_folder_exits_2(folders: tuple[Path, Path], spoil, said: str) -> None:  # type: ignore[no-untyped-def]
    ended = _invoke(spoil(folders[0]), folders[1])
    assert ended.exit_code == 2
    assert said in " ".join(ended.output.split())

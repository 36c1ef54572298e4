"""Renamed cases: the table of the suites, its errors, and results that are read by it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from harness.base.bundle import renamed_cases_file, suites_root
from harness.conformance.compare import ChangeKind, compare
from harness.conformance.journal import Journal
from harness.conformance.record import Footer
from harness.conformance.renamed_cases import (
    RenamesError,
    present_name,
    read_renames,
    with_present_names,
)
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, plan_of

RENAMES = {"protocol/test_a.py::test_old": "protocol/b/test_c.py::test_new"}


def table(folder: Path, *lines: str) -> Path:
    file = folder / "renamed.tsv"
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return file


def test_present_name_keeps_parameters_and_names_of_other_cases() -> None:
    assert present_name("protocol/test_a.py::test_old[v3-x]", RENAMES) == (
        "protocol/b/test_c.py::test_new[v3-x]"
    )
    assert present_name("protocol/test_a.py::test_old", RENAMES) == "protocol/b/test_c.py::test_new"
    assert present_name("protocol/test_a.py::test_older[v3]", RENAMES) == (
        "protocol/test_a.py::test_older[v3]"
    )


def test_read_renames_resolves_chain_to_last_name(tmp_path: Path) -> None:
    assert read_renames(table(tmp_path, "old\tnew", "a\tb", "b\tc")) == {"a": "c", "b": "c"}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("from\tto", "a\tb"), r"renamed\.tsv:1: expected the heading"),
        (("old\tnew", "a"), r"renamed\.tsv:2: expected old<TAB>new, found 'a'"),
        (("old\tnew", "a\tb\tc"), r"renamed\.tsv:2: expected old<TAB>new"),
        (("old\tnew", "a\tb", "a\tc"), r"renamed\.tsv:3: a has two new names"),
        (("old\tnew", "a\tb", "b\ta"), "a leads back to itself"),
    ],
)
def test_wrong_rename_table_raises_error_with_line_number(
    tmp_path: Path, lines: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(RenamesError, match=expected):
        read_renames(table(tmp_path, *lines))


OLD, NEW = next(iter(RENAMES.items()))


def run_of(first: str, first_verdict: Verdict, second_verdict: Verdict) -> Journal:
    """A run with two cases of one requirement; the first case has a new name."""
    checks = (
        check(case=f"{first}[v1]", verdict=first_verdict),
        check(case="protocol/test_a.py::test_kept", verdict=second_verdict),
    )
    footer = Footer(finished_at="2026-05-01T23:01:00+00:00", checks=len(checks), exit=0)
    return Journal(header=header(), plan=plan_of(checks), checks=checks, footer=footer)


def changes(before: Journal, after: Journal) -> list[ChangeKind]:
    (found,) = compare([before], [after]).comparisons
    return [change.kind for change in found.changes]


def test_compare_matches_renamed_case_and_finds_its_regression() -> None:
    before = with_present_names(run_of(OLD, Verdict.PASSED, Verdict.FAILED), RENAMES)
    assert changes(before, run_of(NEW, Verdict.PASSED, Verdict.FAILED)) == []
    worse = run_of(NEW, Verdict.FAILED, Verdict.FAILED)
    assert changes(before, worse) == [ChangeKind.REGRESSED]
    assert changes(run_of(OLD, Verdict.PASSED, Verdict.FAILED), worse) == []
    assert before.plan == worse.plan


def test_every_new_case_name_exists_as_test_and_no_old_name_does() -> None:
    """And no old name is still in use."""
    renames = read_renames(renamed_cases_file())
    there = set()
    for file in (suites_root() / "suites").rglob("test_*.py"):
        place = file.relative_to(suites_root() / "suites").as_posix()
        there |= {
            f"{place}::{node.name}"
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        }
    assert len(renames) > 700
    assert sorted(set(renames.values()) - there) == []
    assert sorted(set(renames) & there) == []

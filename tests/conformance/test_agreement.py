"""Differences between a broker made like a release and the release, and the list of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.conformance.agreement import (
    DifferencesError,
    agree,
    flips,
    load_differences,
)
from harness.conformance.catalogue import load_catalogue
from harness.conformance.journal import read_journal
from harness.conformance.summary import RunSummary, summarize
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, write_run

V = Verdict
OLD, NEW = "1.1.1", "2.8.2"
DATED = "PROD-013"  # since 2.8


def run(
    folder: Path, name: str, verdicts: dict[str, Verdict], *, footer: bool = True
) -> RunSummary:
    checks = [check(requirement, verdict) for requirement, verdict in verdicts.items()]
    about = header(name, target=name)
    return summarize(read_journal(write_run(folder, checks, about=about, footer=footer)))


def test_agree_lists_differences_with_verdicts_and_first_reason(tmp_path: Path) -> None:
    like = run(tmp_path, "like", {"CONN-001": V.PASSED, "CONN-002": V.PASSED})
    real = run(tmp_path, "real", {"CONN-001": V.PASSED, "CONN-002": V.FAILED, "ENC-001": V.PASSED})
    found = agree(OLD, like, real, {})
    assert found.same == 1
    assert not found.good
    assert [(d.requirement, d.like, d.real) for d in found.differences] == [
        ("CONN-002", V.PASSED, V.FAILED),
        ("ENC-001", None, V.PASSED),
    ]
    assert found.differences[0].said == "test_x.py::test_CONN-002: why failed"


def test_agree_ignores_requirements_not_applicable_on_one_side(tmp_path: Path) -> None:
    like = run(tmp_path, "like", {"CONN-001": V.NOT_APPLICABLE, DATED: V.NOT_APPLICABLE})
    old = run(tmp_path, "old", {"CONN-001": V.PASSED, DATED: V.NOT_SUPPORTED})
    new = run(tmp_path, "new", {"CONN-001": V.FAILED, DATED: V.PASSED})
    assert agree(OLD, like, old, {}).good
    assert agree(NEW, like, new, {}).good
    nothing = {"both": 0, "like": 0, "real": 0}
    assert flips([(like, old), (like, new)], load_catalogue()) == nothing


def test_agree_accepts_listed_difference_and_rejects_needless_entry(tmp_path: Path) -> None:
    like = run(tmp_path, "like", {"CONN-001": V.PASSED, "CONN-002": V.PASSED})
    real = run(tmp_path, "real", {"CONN-001": V.PASSED, "CONN-002": V.FAILED})
    named = {("CONN-002", OLD): "its fault"}
    assert agree(OLD, like, real, named).good
    too_much = {**named, ("CONN-001", OLD): "was so once"}
    assert agree(OLD, like, real, too_much).needless == ("CONN-001",)
    assert not agree(OLD, like, real, too_much).good
    elsewhere = {**named, ("CONN-001", NEW): "of another release", ("ENC-001", OLD): "not judged"}
    assert agree(OLD, like, real, elsewhere).good


def test_agree_rejects_incomplete_run(tmp_path: Path) -> None:
    like = run(tmp_path, "like", {"CONN-001": V.PASSED})
    real = run(tmp_path, "real", {"CONN-001": V.PASSED}, footer=False)
    found = agree(OLD, like, real, {})
    assert not found.good
    assert "incomplete" in found.defects[0]


def test_flips_counts_dated_requirements_that_change_on_both_or_one_side(tmp_path: Path) -> None:
    kept, lacked = {DATED: V.PASSED}, {DATED: V.NOT_SUPPORTED}
    old = run(tmp_path, "like-old", lacked), run(tmp_path, "real-old", lacked)
    new = run(tmp_path, "like-new", kept), run(tmp_path, "real-new", kept)
    stays = run(tmp_path, "like-stays", lacked)
    catalogue = load_catalogue()
    assert flips([old, new], catalogue) == {"both": 1, "like": 0, "real": 0}
    assert flips([old, (stays, new[1])], catalogue) == {"both": 0, "like": 0, "real": 1}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('requirement = "CONN-999"\nreleases = ["1.1.1"]\nreason = "r"', "CONN-999"),
        ('requirement = "CONN-001"\nreleases = ["1.1.2"]\nreason = "r"', "1.1.2"),
        ('requirement = "CONN-001"\nreleases = ["1.1.1"]', "reason"),
        ('requirement = "CONN-001"\nreleases = ["1.1.1"]\nreason = "r"\nwhy = "?"', "why"),
    ],
)
def test_load_differences_rejects_invalid_entry(tmp_path: Path, entry: str, problem: str) -> None:
    file = tmp_path / "like.toml"
    file.write_text(f"differences_version = 1\n[[difference]]\n{entry}\n", "utf-8")
    with pytest.raises(DifferencesError, match=problem):
        load_differences(file, load_catalogue(), [OLD, NEW])

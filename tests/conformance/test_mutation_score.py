"""The published score of mutants: its file, and the errors of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.conformance.mutation_score import (
    MutantCount,
    ScoreError,
    read_score,
    the_score,
    write_score,
)
from reports.mutant_matrix import FATES

MADE = [
    MutantCount("reference,disk", "2026-01-02", 3, "STOR", "timer", "survived", 2),
    MutantCount("reference", "2026-01-01", 7, "PROD", "boundary", "noticed", 5),
]


def test_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_score(MADE, tmp_path / "score.tsv")
    assert read_score(tmp_path / "score.tsv") == tuple(sorted(MADE))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1 is not the head target at seed"),
        ("target\tat\n", "line 1 is not the head target at seed"),
        ("{head}reference\tnow\tseven\tPROD\ttimer\tgone\t1\n", "line 2: invalid literal"),
        ("{head}reference\tnow\t7\n", "line 2: not enough values"),
    ],
)
def test_wrong_file_names_its_line(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "score.tsv"
    write_score([], file)
    file.write_text(text.replace("{head}", file.read_text("utf-8")), "utf-8")
    with pytest.raises(ScoreError, match=problem):
        read_score(file)


def test_published_score_has_known_fates() -> None:
    assert {one.fate for one in the_score()} <= set(FATES)

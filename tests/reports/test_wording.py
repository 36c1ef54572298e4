"""Folding of parts, version ranges, escaping."""

import pytest

from reports.as_markdown import escape
from reports.matrix import Cell, CellPart, Note
from reports.wording import fold, note_words, time_words, version_ranges


def part(case: str, version: int | None, verdict: str, reason: str = "") -> CellPart:
    notes = (Note(verdict, reason, "", ""),) if reason else ()
    return CellPart(case, version, verdict, 1, 1, False, notes)


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        ([], ""),
        ([None], ""),
        ([4], "v4"),
        ([3, 0, 1, 2, 5, 2], "v0–v3, v5"),
        ([None, 0, 2], "v0, v2"),
    ],
)
def test_version_ranges_joins_consecutive_versions(versions: list[int | None], words: str) -> None:
    assert version_ranges(versions) == words


def test_passed_parts_fold_over_parameters() -> None:
    parts = tuple(part(f"t.py::test_a[v{n}]", n, "passed") for n in range(4))
    (line,) = fold(Cell("passed", 4, False, parts))
    assert (line.case, line.versions) == ("t.py::test_a", "v0–v3")


def test_failed_parts_keep_case_and_reason() -> None:
    parts = (
        part("t.py::test_a[v0]", 0, "passed"),
        part("t.py::test_a[v1]", 1, "failed", "too short"),
        part("t.py::test_a[v2]", 2, "failed", "too long"),
    )
    lines = fold(Cell("failed", 3, False, parts))
    assert [(line.case, line.versions) for line in lines] == [
        ("t.py::test_a[v0]", "v0"),
        ("t.py::test_a[v1]", "v1"),
        ("t.py::test_a[v2]", "v2"),
    ]
    assert [note_words(note) for line in lines for note in line.notes] == ["too short", "too long"]


def test_note_begins_with_missing_capability() -> None:
    assert note_words(Note("not_applicable", "no way", "kill", "")) == (
        "missing capability: kill · no way"
    )
    assert note_words(Note("failed", "taken", "", "", "bad crc")) == "[bad crc] · taken"


def test_escape_handles_tables_tags_and_line_breaks() -> None:
    assert escape("a | b\n<script> *x* [y](z)") == r"a \| b \<script\> \*x\* \[y\](z)"


def test_time_words_converts_to_utc() -> None:
    assert time_words("2026-01-01T05:00:00.5+05:00") == "2026-01-01 00:00:00 UTC"
    assert time_words("once") == "once"

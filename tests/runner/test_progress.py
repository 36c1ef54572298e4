"""The progress of a run as it is shown: the cases done, and the cases or steps it waits for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.commands.progress import LONGEST_NAME, RunReader
from harness.conformance.journal import JOURNAL_NAME
from harness.runner.begun_cases import BEGUN_NAME, BegunWriter

ONE, OTHER = "protocol/test_a.py::test_one", "protocol/test_a.py::test_other"


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[BegunWriter]:
    made = BegunWriter(tmp_path)
    yield made
    made.close()


def journal_has(run_dir: Path, *entries: dict[str, Any]) -> None:
    with (run_dir / JOURNAL_NAME).open("a") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries)


def test_progress_shows_start_and_collection_before_cases(tmp_path: Path) -> None:
    reader = RunReader(tmp_path)
    assert reader.read().waits_for() == "the target starts"
    journal_has(tmp_path, {"type": "header"})
    assert reader.read().waits_for() == "the tests are collected"
    journal_has(tmp_path, {"type": "plan", "cases": [{}, {}]})
    seen = reader.read()
    assert (seen.waits_for(), seen.planned) == ("", 2)


def test_progress_shows_longest_running_case(tmp_path: Path, begun: BegunWriter) -> None:
    journal_has(tmp_path, {"type": "header"}, {"type": "plan", "cases": [{}, {}]})
    reader = RunReader(tmp_path)
    begun.add(ONE)
    began_s = reader.read().running[ONE]
    begun.add(OTHER)
    seen = reader.read()
    seen.running[OTHER] = began_s + 5
    assert seen.waits_for(began_s + 1) == ""
    assert seen.waits_for(began_s + 12) == f"waiting: {ONE} 12 s"
    journal_has(tmp_path, {"type": "check", "case": ONE, "verdict": "passed"})
    assert reader.read().waits_for(began_s + 12) == f"waiting: {OTHER} 7 s"
    assert seen.verdicts == {"passed": 1}


def test_case_with_check_record_is_not_running(tmp_path: Path, begun: BegunWriter) -> None:
    journal_has(tmp_path, {"type": "header"}, {"type": "plan", "cases": [{}]})
    reader = RunReader(tmp_path)
    begun.add(ONE)
    journal_has(tmp_path, {"type": "check", "case": ONE, "verdict": "passed"})
    assert reader.read().running == {}


def test_reader_ignores_partial_line_until_complete(tmp_path: Path) -> None:
    reader, file = RunReader(tmp_path), tmp_path / JOURNAL_NAME
    file.write_text('{"type": "header"}\n{"type": "pl')
    assert reader.read().has_started
    with file.open("a") as more:
        more.write('an", "cases": [{}]}\n')
    assert reader.read().planned == 1


def test_long_case_name_is_shortened(tmp_path: Path, begun: BegunWriter) -> None:
    journal_has(tmp_path, {"type": "header"}, {"type": "plan", "cases": [{}]})
    begun.add("long/" * 100 + "end")
    shown = RunReader(tmp_path).read().waits_for(2e12)
    assert "/end " in shown
    assert len(shown) < LONGEST_NAME + 30


def test_close_removes_begun_file(tmp_path: Path, begun: BegunWriter) -> None:
    begun.add(ONE)
    assert (tmp_path / BEGUN_NAME).exists()
    begun.close()
    begun.close()
    assert not (tmp_path / BEGUN_NAME).exists()

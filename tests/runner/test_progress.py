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


def test_what_comes_before_the_cases_is_named(tmp_path: Path) -> None:
    reader = RunReader(tmp_path)
    assert reader.read().waits_for() == "the target starts"
    journal_has(tmp_path, {"type": "header"})
    assert reader.read().waits_for() == "the tests are collected"
    journal_has(tmp_path, {"type": "plan", "cases": [{}, {}]})
    seen = reader.read()
    assert (seen.waits_for(), seen.planned) == ("", 2)


def test_the_case_that_began_first_is_named_while_it_runs(
    tmp_path: Path, begun: BegunWriter
) -> None:
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


def test_a_case_that_has_ended_does_not_run(tmp_path: Path, begun: BegunWriter) -> None:
    journal_has(tmp_path, {"type": "header"}, {"type": "plan", "cases": [{}]})
    reader = RunReader(tmp_path)
    begun.add(ONE)
    journal_has(tmp_path, {"type": "check", "case": ONE, "verdict": "passed"})
    assert reader.read().running == {}


def test_a_line_counts_when_it_is_whole(tmp_path: Path) -> None:
    reader, file = RunReader(tmp_path), tmp_path / JOURNAL_NAME
    file.write_text('{"type": "header"}\n{"type": "pl')
    assert reader.read().has_started
    with file.open("a") as more:
        more.write('an", "cases": [{}]}\n')
    assert reader.read().planned == 1


def test_what_is_shown_is_bounded(tmp_path: Path, begun: BegunWriter) -> None:
    journal_has(tmp_path, {"type": "header"}, {"type": "plan", "cases": [{}]})
    begun.add("long/" * 100 + "end")
    shown = RunReader(tmp_path).read().waits_for(2e12)
    assert "/end " in shown
    assert len(shown) < LONGEST_NAME + 30


def test_the_file_goes_with_the_run(tmp_path: Path, begun: BegunWriter) -> None:
    begun.add(ONE)
    assert (tmp_path / BEGUN_NAME).exists()
    begun.close()
    begun.close()
    assert not (tmp_path / BEGUN_NAME).exists()

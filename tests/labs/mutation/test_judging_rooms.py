"""Mutants of packages that judge without a broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from checks.draw import ROOT
from labs.mutation import judging_rooms
from labs.mutation.equivalent import KnownEquivalents
from labs.mutation.judging_rooms import ROOMS, RoomSession, room_mutants
from labs.mutation.mutant import Mutant
from labs.mutation.mutant_report import MutantReport, judged_in
from labs.mutation.verdicts import Fate


def test_each_room_has_mutants_of_its_own_package() -> None:
    for room in ROOMS.values():
        places = {one.module for one in room_mutants(room)}
        assert places
        assert all(place.startswith(f"harness.{room.package}.") for place in places)
        assert all((ROOT / folder).is_dir() for folder in room.tests)


def _named(function: str, before: str) -> Mutant:
    return next(
        one
        for one in room_mutants(ROOMS["histories"])
        if one.function == function and one.before == before and one.operator == "condition"
    )


@pytest.mark.rotates(8)
def test_mutant_of_checker_is_noticed_by_its_unit_tests(tmp_path: Path) -> None:
    mutant, out = _named("_check_log", "len(copies) > 1"), tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "labs.mutation", "--room", "histories", "--out", str(out)]
    done = subprocess.run(
        [*command, "--mutant", mutant.name], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (judged,) = judged_in(out)
    assert judged.verdict is Fate.NOTICED
    assert judged.case.startswith("tests/histories/")
    assert "1 of 1 noticed" in done.stdout


class _Tests:
    """Stands for the collected tests: what a mutant's process does is given."""

    def __init__(self, work: str) -> None:
        self._work = work

    def run(self, session: object, mutant: Mutant, written: int) -> int:
        if self._work == "hang":
            signal.pause()
        if self._work == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return 0


@pytest.mark.parametrize(
    ("work", "fate"), [("hang", Fate.GONE), ("die", Fate.GONE), ("pass", Fate.SURVIVED)]
)
def test_hang_death_and_pass_are_distinguished(
    work: str, fate: Fate, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = _named("_check_log", "len(copies) > 1")
    report = MutantReport(KnownEquivalents([mutant], "histories"), None)
    judging = RoomSession([mutant], 1, report)
    monkeypatch.setattr(judging_rooms, "LIMIT_S", 1)
    monkeypatch.setattr(judging, "_run_tests", _Tests(work).run)
    judging.pytest_runtestloop(None)  # type: ignore[arg-type]
    assert [one.verdict for one in report.judged] == [fate]

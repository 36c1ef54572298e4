"""A run that hangs ends its process, which prints where it stood."""

from __future__ import annotations

import faulthandler
import threading
from pathlib import Path
from typing import IO, cast

import pytest

from harness.conformance.summary import RunSummary
from labs.defects import row_worker
from labs.defects.defect import Where
from labs.defects.forked_worker import ForkedWorker, next_message
from labs.defects.row_session import RowSession
from labs.defects.row_unit import Begun, Unit
from labs.defects.row_worker import RowWorker


class Marked:
    """In place of a collected test: it wears the mark for what it judges, and no other."""

    def __init__(self, nodeid: str = "test_versions[v0]") -> None:
        self.nodeid = nodeid

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.mark.judges("APIV-001").mark if name == "judges" else None


class HangingSession:
    """Its runs never end."""

    items = (Marked(),)
    running = None

    def __init__(self) -> None:
        self.before_each = lambda: None

    def run(self, *asked: object) -> RunSummary:
        threading.Event().wait()
        raise AssertionError


def test_hanging_run_prints_stacks_and_ends_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_worker, "CASE_LIMIT_S", 0.1)

    def make(session: RowSession, out: Path, output: IO[str]) -> RowWorker:
        return RowWorker(session, "reference", is_cluster=False, out=out, output=output)

    # A forked process would wait for ever for the timer thread of the limit of this test.
    faulthandler.cancel_dump_traceback_later()
    session = cast("RowSession", HangingSession())
    worker = ForkedWorker(1, session, make, tmp_path / "worker")
    worker.give(Unit(Where.BUILT_IN, ("APIV-001",), ("one_api_is_listed_twice",)))
    try:
        assert next_message(worker) == Begun("")
        assert next_message(worker) is None
        assert worker.how_it_ended().startswith("a case took too long")
        printed = worker.printed()
    finally:
        worker.kill()
    assert "test_row_limit.py" in printed, "the line that hung"

"""The run that finds the tests of each line, with a broker that records its lines."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.conformance.summary import RunSummary
from harness.conformance.verdict import Verdict
from labs.defects.row_session import RowSession
from labs.mutation.line_map import LineCollector, LineMap
from labs.mutation.mutant_worker import target_with

MODULE = "labs.mutation.traced_broker"


def map_lines(session: RowSession, items: Sequence[pytest.Item], spec: str, out: Path) -> LineMap:
    """Run the tests one after the other; return the lines of those that pass.

    A test that does not pass without a mutant proves nothing, and is left out.
    """
    found: list[tuple[str, set[str]]] = []
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-lines-") as place:
        collector = LineCollector(Path(place))

        def begin() -> None:
            lines = collector.end_test()
            if found:
                found[-1][1].update(lines)
            assert session.running is not None
            found.append((session.running.nodeid, set()))

        session.before_each = begin
        command = (sys.executable, "-m", MODULE, place, "--port", "0")
        summary = session.run(items, target_with(spec, command), out, "lines")
        if found:
            found[-1][1].update(collector.end_test())
    made, passed = LineMap(), _passed(summary)
    for test, lines in found:
        if test.removeprefix("suites/") in passed:
            made.add(test, lines)
    return made


def _passed(summary: RunSummary) -> set[str]:
    bad: set[str] = set()
    good: set[str] = set()
    for one in summary.requirements.values():
        for check in one.checks:
            (good if check.verdict is Verdict.PASSED else bad).add(check.case)
    return good - bad

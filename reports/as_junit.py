"""`junit.xml`: a test suite a target, a test case a requirement, for what shows test results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .matrix import Cell, Matrix, MatrixRow, MatrixRun
from .totals import Total, totals
from .verdicts import QUIET
from .wording import fold, note_words
from .xml_text import xml_text

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite
    from junitparser.junitparser import FinalResult


def matrix_junit(matrix: Matrix) -> str:
    """The matrix as JUnit XML; the same matrix always gives the same bytes.

    failed is a failure; harness_error, and inconclusive for a MUST, an error; other inconclusive,
    not_supported and not_applicable are skipped; a warning passes and says so in its output. A run
    without an end has a case of its own, which is an error.
    """
    from junitparser import JUnitXml, TestSuite

    report = JUnitXml("kafka-conformance")
    counted = matrix.counted_runs
    by_target = {total.target: total for total in totals(matrix)}
    for target in matrix.targets:
        suite = TestSuite(xml_text(target))
        run = counted.get(target)
        if run is not None:
            _describe(suite, run)
        _count(suite, by_target[target])
        suite.add_testcases(_cases(matrix, target, run))
        report.add_testsuite(suite)
    text: str = report.tostring().decode("utf-8")  # type: ignore[no-untyped-call]
    return text if text.endswith("\n") else text + "\n"


def _describe(suite: TestSuite, run: MatrixRun) -> None:
    suite.timestamp = xml_text(run.first_check_at)
    for name in ("run", "implementation", "release", "suite_version", "catalogue_version", "seed"):
        suite.add_property(name, xml_text(str(getattr(run, name))))


def _count(suite: TestSuite, total: Total) -> None:
    """Properties: what of the catalogue was judged, and one for each reason of the rest."""
    suite.add_property("judged", f"{total.judged} of {total.requirements}")
    suite.add_property("must_passed", f"{total.must['passed']} of {total.musts}")
    for one in total.not_judged:
        suite.add_property("not_judged", xml_text(f"{one.count} {one.why}: {one.remedy}"))


def _cases(matrix: Matrix, target: str, run: MatrixRun | None) -> list[TestCase]:
    cases = [_case(row, cell) for row in matrix.rows if (cell := row.cells.get(target)) is not None]
    if run is None or not run.run_complete:
        cases.append(_unfinished(run))
    return cases


def _case(row: MatrixRow, cell: Cell) -> TestCase:
    from junitparser import TestCase

    case = TestCase(
        xml_text(f"{row.id} {row.statement}".strip()), xml_text(f"{row.area}.{row.level}")
    )
    case.time = round(cell.duration_ms / 1000, 3)
    told = _told(cell)
    result = _result(row.level, cell.verdict, told)
    if result is not None:
        case.result = [result]
    elif told:
        case.system_out = told
    return case


def _result(level: str, verdict: str, told: str) -> FinalResult | None:
    from junitparser import Error, Failure, Skipped

    kinds = {
        "failed": Failure,
        "harness_error": Error,
        "inconclusive": Error if level == "MUST" else Skipped,
        "not_supported": Skipped,
        "not_applicable": Skipped,
    }
    if verdict not in kinds:
        return None
    result = kinds[verdict](told.partition("\n")[0] or verdict, verdict)
    result.text = told
    return result


def _told(cell: Cell) -> str:
    """Case, versions and reason of every part that is not plainly passed, a line each."""
    lines = []
    for part in fold(cell):
        if part.verdict == "passed" and not part.unstable:
            continue
        reasons = "; ".join(words for note in part.notes if (words := note_words(note)))
        unstable = " (unstable)" if part.unstable else ""
        at = f" {part.versions}" if part.versions else ""
        lines.append(
            f"{part.verdict}{unstable}: {part.case}{at}" + (f": {reasons}" * bool(reasons))
        )
    # The parts with the joined verdict come first.
    lines.sort(key=lambda line: (not line.startswith(cell.verdict), line.startswith(tuple(QUIET))))
    return xml_text("\n".join(lines))


def _unfinished(run: MatrixRun | None) -> TestCase:
    from junitparser import Error, TestCase

    case = TestCase("the run came to its end", "run")
    told = "it holds no check" if run is None else "it did not come to its proper end"
    case.result = [Error(f"the run is incomplete: {told}", "incomplete")]
    return case

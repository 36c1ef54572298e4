"""Matrices made by hand, of any size, for what only renders."""

from __future__ import annotations

from dataclasses import replace

from reports.api_matrix import ApiVersion
from reports.defect_matrix import ChangedVerdict, DefectRow
from reports.fault_timelines import FaultEvent, FaultTimeline
from reports.headlines import ReportedGroup, ReportedHeadline
from reports.histories import History, Span
from reports.matrix import AreaCount, Cell, CellPart, Matrix, MatrixRow, MatrixRun, Note
from reports.mutant_matrix import ReportedMutants
from reports.verdicts import LEVELS, WORST_FIRST
from reports.wire_matrix import SeenError, SeenField, SeenOnWire

TARGETS = ("kafka:4.4.0", "reference", "stranger")
EVIDENCE = """\
case     protocol/test_prod.py::test_crc[v9]
repeat   pytest 'suites/protocol/test_prod.py::test_crc[v9]' --target stranger --seed 7

PROD-001 MUST: the statement
-- test --
the trace <b>of it</b>
-- wire --
> ProduceRequest v9 acks=1
< ProduceResponse v9 error_code=0
-- the broker's log, its end --
(no log)"""

_SAMPLE = ("reference", "2026-01-01", 7)
MUTANTS = (
    ReportedMutants(*_SAMPLE, "PROD", "boundary", "noticed", 5),
    ReportedMutants(*_SAMPLE, "PROD", "timer", "gone", 1),
    ReportedMutants(*_SAMPLE, "PROD", "timer", "survived", 2),
    ReportedMutants(*_SAMPLE, "META", "timer", "not_reached", 3),
    ReportedMutants(*_SAMPLE, "META", "timer", "equivalent", 4),
    ReportedMutants("reference,disk", "2026-01-02", 8, "STOR", "timer", "elsewhere", 6),
)


HEADLINE = ReportedHeadline(
    requirements=1053,
    judged=5,
    musts=961,
    musts_passed=3,
    not_judged=(
        ReportedGroup(
            *("need several nodes", "--target reference,nodes=3"),
            requirements=tuple(f"ISR-{number:03}" for number in range(900)),
        ),
    ),
)


def passed(case: str = "protocol/test_prod.py::test_good", versions: int = 3) -> Cell:
    """A cell with a passed part a version."""
    parts = (
        CellPart(f"{case}[v{v}]", v, "passed", checks=1, attempts=1, unstable=False, notes=())
        for v in range(versions)
    )
    return Cell("passed", versions, False, tuple(parts), 12.5)


def fallen(verdict: str = "failed", reason: str = "error_code is 0, expected 2") -> Cell:
    """A cell with one part at version 9 that is not passed, with a reason and evidence."""
    note = Note(verdict, reason, "", "evidence/crc.txt")
    part = CellPart("protocol/test_prod.py::test_crc[v9]", 9, verdict, 1, 1, False, (note,))
    return Cell(verdict, 1, False, (part, *passed().parts), 20.0)


def row(number: int, area: str, *cells: Cell | None, level: str = "MUST") -> MatrixRow:
    """A requirement; a cell that is None is left out."""
    judged = {target: cell for target, cell in zip(TARGETS, cells, strict=True) if cell}
    statement = f"Statement {number} of {area} says what a broker must do, at some length"
    return MatrixRow(f"{area}-{number:03}", area, level, statement, judged)


def run(target: str, **values: object) -> MatrixRun:
    """A complete run that counts."""
    made = MatrixRun(
        run=f"run-{target}",
        target=target,
        counts=True,
        run_complete=True,
        implementation="a broker",
        release="1.0",
        suite_version="0.1.0",
        catalogue_version="1",
        seed=7,
        first_check_at="2026-01-01T00:00:00+00:00",
        last_check_at="2026-01-01T00:01:00+00:00",
        checks=10,
        cases=4,
        requirements=4,
        retried_checks=0,
        planned_cases=4,
    )
    return replace(made, **values)  # type: ignore[arg-type]


def matrix(*rows: MatrixRow, targets: tuple[str, ...] = TARGETS) -> Matrix:
    """A matrix of these rows, areas counted, the evidence of `fallen` there for every run."""
    return Matrix(
        targets=targets,
        rows=tuple(sorted(rows, key=lambda one: (one.area, one.id))),
        areas=tuple(_areas(rows, targets)),
        runs=tuple(run(target) for target in targets),
        evidence={(f"run-{target}", "evidence/crc.txt"): EVIDENCE for target in targets},
    )


def _areas(rows: tuple[MatrixRow, ...], targets: tuple[str, ...]) -> list[AreaCount]:
    made = []
    for area in dict.fromkeys(one.area for one in rows):
        for target in targets:
            for level in (None, *LEVELS):
                verdicts = [
                    one.cells[target].verdict
                    for one in rows
                    if one.area == area and target in one.cells and level in (None, one.level)
                ]
                if verdicts:
                    counts = {word.name: verdicts.count(word.name) for word in WORST_FIRST}
                    worst = next(name for name, count in counts.items() if count)
                    made.append(AreaCount(area, target, level, worst, len(verdicts), counts))
    return made


def small() -> Matrix:
    """Nine requirements in three areas with every kind of cell, APIs and all that lies beside."""
    made = matrix(
        row(1, "PROD", passed(), passed(), fallen()),
        row(2, "PROD", passed(), passed(), passed()),
        row(3, "PROD", passed(), passed(), passed()),
        row(4, "PROD", passed(), passed(), None, level="SHOULD"),
        row(1, "META", passed(), passed(), fallen("harness_error", "the harness fell")),
        row(2, "META", passed(), passed(), fallen("inconclusive", "after META-001")),
        row(3, "META", fallen("warning", "unusual"), passed(), passed(), level="SHOULD"),
        row(1, "CONN", passed(), passed(), fallen("not_supported", "")),
        row(2, "CONN", passed(), passed(), passed()),
    )
    made = replace(made, apis=_apis(), wire=_wire(), faults=_faults(), defects=_defects())
    return replace(made, histories=_histories(), mutants=MUTANTS)


def _apis() -> tuple[ApiVersion, ...]:
    good = (("PROD-002", "passed"),)
    bad = (("PROD-001", "failed"), *good)
    return (
        *(ApiVersion(0, "Produce", v, "reference", True, "passed", "passed", good) for v in (8, 9)),
        ApiVersion(0, "Produce", 8, "stranger", True, "passed", "passed", good),
        ApiVersion(0, "Produce", 9, "stranger", True, "passed", "failed", bad),
        ApiVersion(18, "ApiVersions", 4, "reference", True, None, None, ()),
        ApiVersion(3, "Metadata", 0, "kafka:4.4.0", False, "passed", None, (), observed=True),
    )


def _wire() -> tuple[SeenOnWire, ...]:
    errors = (SeenError(0, "NONE", 40), SeenError(2, "CORRUPT_MESSAGE", 3))
    asked = (SeenField("acks", "default", 5), SeenField("transactional_id", "null", 5))
    told = (SeenField("responses", "empty", 1), SeenField("", "unknown_tag", 2))
    return (
        SeenOnWire(0, "Produce", 9, "reference", "request", 43, (), asked),
        SeenOnWire(0, "Produce", 9, "reference", "response", 43, errors, told),
    )


def _faults() -> tuple[FaultTimeline, ...]:
    """Of the failed case on stranger, of three versions of the good one on reference."""
    armed = FaultEvent(0.2, "armed", None, None, None, None, "drop <b>it</b>", {})
    fired = FaultEvent(
        *(812.3, "fired", "client->broker", 1, "upstream", 0, "drop <b>it</b>"),
        detail={"action": "drop", "version": 9},
    )
    good = "protocol/test_prod.py::test_good"
    return (
        FaultTimeline("stranger", "protocol/test_prod.py::test_crc[v9]", 1, 205, (armed, fired)),
        *(FaultTimeline("reference", f"{good}[v{v}]", 1, 1, (armed,)) for v in range(3)),
    )


def _histories() -> tuple[History, ...]:
    """Of the failed case on stranger: three sends, and a broker that was killed meanwhile."""
    sent = [
        _span("send", "ok", 1.0, 3.5, offset=0, value="1"),
        _span("send", "fail", 4.0, 5.0, value="2", detail="NOT_ENOUGH_REPLICAS"),
        _span("send", "invoke", 8.0, None, value="3"),
    ]
    killed = Span("cluster", "fault", None, "info", 6.0, 6.0, None, None, "kill <b>2</b>")
    case = "protocol/test_prod.py::test_crc[v9]"
    return (History("stranger", case, 1, 3, 1, 1, 1, 1, 1, (*sent[:2], killed, sent[2])),)


def _span(
    action: str,
    outcome: str,
    began_ms: float,
    ended_ms: float | None,
    *,
    offset: int | None = None,
    value: str | None = None,
    detail: str | None = None,
) -> Span:
    return Span("producer", action, 0, outcome, began_ms, ended_ms, offset, value, detail)


def _defects() -> tuple[DefectRow, ...]:
    own = ChangedVerdict("PROD-001", "passed", "failed")
    other = ChangedVerdict("META-001", "passed", None)
    said = ("a bad crc is taken", "error_code is 0", "")
    return (
        DefectRow("PROD-001", "bad_crc", "reference", said[0], True, said[1], "", (own,)),
        DefectRow(
            "PROD-001", "bad_crc", "kafka:4.4.0", said[0], False, "", "not alone", (own, other)
        ),
    )


def large(rows: int) -> Matrix:
    """So many requirements in 40 areas; one in ten is not passed somewhere."""
    good, bad = passed(), fallen()
    return matrix(
        *(row(n, f"AREA{n % 40:02}", good, good, bad if n % 10 == 0 else good) for n in range(rows))
    )

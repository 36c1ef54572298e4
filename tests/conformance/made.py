"""Small journals and catalogues for the tests of this room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.conformance.journal import JournalWriter
from harness.conformance.record import CheckRecord, PlannedCase, RunHeader
from harness.conformance.verdict import Verdict

V = Verdict


def header(
    run: str = "r1", target: str = "reference", started_at: str = "2026-05-01T10:00:00+00:00"
) -> RunHeader:
    return RunHeader(
        run=run,
        suite_version="0.1.0",
        catalogue_version="2026.1",
        seed=7,
        target=target,
        implementation="A broker",
        release="4.4.0",
        capabilities=("create_topics",),
        api_versions={0: (0, 13), 18: (0, 4)},
        started_at=started_at,
    )


def check(
    requirement: str = "CONN-001",
    verdict: Verdict = V.PASSED,
    *,
    level: str = "MUST",
    case: str | None = None,
    reason: str | None = None,
    attempt: int = 1,
    ordinal: int = 1,
) -> CheckRecord:
    return CheckRecord(
        requirement=requirement,
        area=requirement.split("-", maxsplit=1)[0],
        level=level,
        case=case or f"test_x.py::test_{requirement}",
        check=ordinal,
        attempt=attempt,
        api_key=0,
        api_version=3,
        verdict=verdict,
        reason=("" if verdict is V.PASSED else f"why {verdict}") if reason is None else reason,
        capability_missing="kill" if verdict is V.NOT_APPLICABLE else None,
        duration_ms=1.5,
        evidence=None,
        at="2026-05-01T10:00:01+00:00",
    )


def plan_of(checks: Iterable[CheckRecord]) -> tuple[PlannedCase, ...]:
    cases: dict[str, dict[str, None]] = {}
    for one in checks:
        cases.setdefault(one.case, {})[one.requirement] = None
    return tuple(PlannedCase(case=name, requirements=tuple(ids)) for name, ids in cases.items())


def write_run(
    out: Path,
    checks: Sequence[CheckRecord],
    *,
    about: RunHeader | None = None,
    footer: bool = True,
    planned: Sequence[CheckRecord] = (),
) -> Path:
    """Write the journal of one run; `planned` adds cases that leave no check."""
    about = about or header()
    path = out / "runs" / about.run / "journal.jsonl"
    with JournalWriter(path) as writer:
        writer.write_header(about)
        writer.write_plan(plan_of([*checks, *planned]))
        for one in checks:
            writer.write_check(one)
        if footer:
            writer.write_footer("2026-05-01T10:01:00+00:00", 0)
    return path

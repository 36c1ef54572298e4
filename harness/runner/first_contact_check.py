"""The journal of a run that ends at the first contact, because the broker answers wrongly.

A wrong first answer is a verdict about the broker, so the run records it: one planned case, one
check, its evidence, and a footer. No other requirement is judged.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from harness.conformance.catalogue import load_catalogue
from harness.conformance.journal import FIRST_CONTACT, JournalWriter
from harness.conformance.outcome import classify_in_check
from harness.conformance.record import CheckRecord, PlannedCase, RunHeader
from harness.conformance.summary import summarize
from harness.targets.not_answered import AnsweredWrong

EVIDENCE = "evidence/first-contact.txt"


def record_first_contact(
    writer: JournalWriter, run_dir: Path, header: RunHeader, wrong: AnsweredWrong
) -> None:
    """Write the whole journal, from the header to the footer, and the evidence."""
    now = datetime.now(UTC).isoformat()
    check = _check(wrong, now)
    file = run_dir / EVIDENCE
    file.parent.mkdir(exist_ok=True)
    file.write_text(_evidence(header, check, wrong), "utf-8")
    writer.write_header(header)
    writer.write_plan([PlannedCase(case=FIRST_CONTACT, requirements=(wrong.requirement,))])
    writer.write_check(check)
    writer.write_footer(now, int(summarize(writer.journal(), finished=True).exit_code))


def _check(wrong: AnsweredWrong, now: str) -> CheckRecord:
    requirement = load_catalogue().requirement(wrong.requirement)
    outcome = classify_in_check(AssertionError(wrong.observed), requirement.level)
    return CheckRecord(
        requirement=requirement.id,
        area=requirement.area,
        level=requirement.level,
        case=FIRST_CONTACT,
        check=1,
        attempt=1,
        api_key=None,
        api_version=None,
        verdict=outcome.verdict,
        reason=outcome.reason,
        capability_missing=None,
        duration_ms=0.0,
        evidence=EVIDENCE,
        at=now,
    )


def _evidence(header: RunHeader, check: CheckRecord, wrong: AnsweredWrong) -> str:
    statement = load_catalogue().requirement(check.requirement).statement
    lines = [
        f"case     {check.case}",
        f"target   {header.target} ({header.implementation})",
        "",
        f"{check.requirement} {check.level}: {statement}",
        f"  {check.verdict}: {check.text}",
        "",
        "-- wire --",
        wrong.transcript,
    ]
    return "\n".join(lines)

"""Each exit of the gate, what decides when several hold, and which run counts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import date
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.conformance.catalogue import load_catalogue
from harness.conformance.found_runs import ResultsNotFound
from harness.conformance.gate import (
    SENTENCES,
    GateExit,
    GateResult,
    ResultsNotWhole,
    gate,
    write_profile,
)
from harness.conformance.parquet import ensure_parquet
from harness.conformance.profile import Profile, ProfileError, load_profile
from harness.conformance.record import CheckRecord
from harness.conformance.results import RESULTS
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, write_run

V = Verdict
TODAY = date(2026, 6, 1)
PASS = check("CONN-001")


def profile(tmp_path: Path, *known: str, present: str = "") -> Profile:
    """A profile from lines ``ID key=value ...``."""
    text = ["profile_version = 1"]
    for line in known:
        requirement, *settings = line.split()
        text += ["[[known_failure]]", f'requirement = "{requirement}"', 'reason = "known"']
        text += [setting.replace("=", " = ", 1) for setting in settings]
    if present:
        ids = ", ".join(f'"{requirement}"' for requirement in present.split())
        text += ["[[present]]", f"requirements = [{ids}]"]
    path = tmp_path / "profile.toml"
    path.write_text("\n".join(text), encoding="utf-8")
    return load_profile(path, load_catalogue())


def judge(tmp_path: Path, *checks: CheckRecord, by: Profile | None = None) -> GateResult:
    out = tmp_path / "out"
    shutil.rmtree(out, ignore_errors=True)
    write_run(out, checks)
    return gate(out, by, TODAY)


def test_exit_codes_match_published_values() -> None:
    assert {code.name: code.value for code in GateExit} == {
        "OK": 0,
        "UNEXPECTED_FAILURE": 1,
        "USAGE": 2,
        "INCOMPLETE": 3,
        "KNOWN_FAILURE_PASSED": 4,
        "VANISHED": 5,
        "EXPIRED": 6,
    }
    assert SENTENCES.keys() == set(GateExit)
    assert len(set(SENTENCES.values())) == 7


def test_exit_0_when_nothing_failed(tmp_path: Path) -> None:
    soft = check("APIV-013", V.WARNING, level="SHOULD")
    odd = check("APIV-005", V.INCONCLUSIVE, level="SHOULD")
    got = judge(tmp_path, PASS, soft, odd, check("CONN-002", V.NOT_APPLICABLE))
    assert (got.exit_code, got.findings, got.runs) == (GateExit.OK, (), {"reference": "r1"})
    assert got.sentence == SENTENCES[GateExit.OK]


def test_strict_gate_exits_1_for_should_that_does_not_hold(tmp_path: Path) -> None:
    soft = check("APIV-013", V.WARNING, level="SHOULD", reason="no name")
    write_run(tmp_path / "out", [PASS, soft])
    got = gate(tmp_path / "out", strict=True)
    assert got.exit_code is GateExit.UNEXPECTED_FAILURE
    assert [one.sentence for one in got.findings] == ["reference: APIV-013 does not hold: no name"]
    known = profile(tmp_path, 'APIV-013 matches="name"')
    got = gate(tmp_path / "out", known, strict=True)
    assert (got.exit_code, got.known) == (GateExit.OK, (("reference", "APIV-013"),))
    other = profile(tmp_path, 'APIV-013 matches="version"')
    assert gate(tmp_path / "out", other, strict=True).exit_code is GateExit.UNEXPECTED_FAILURE
    assert gate(tmp_path / "out", other).exit_code is GateExit.OK


def test_entry_covers_only_subtests_that_it_names(tmp_path: Path) -> None:
    by = profile(tmp_path, 'CONN-002 matches="^crc:"')
    crc = replace(check("CONN-002", V.FAILED, reason="taken"), subtest="crc")
    magic = replace(crc, subtest="magic", check=2)
    assert judge(tmp_path, PASS, crc, by=by).exit_code is GateExit.OK
    got = judge(tmp_path, PASS, crc, magic, by=by)
    assert got.exit_code is GateExit.UNEXPECTED_FAILURE
    assert got.findings[0].sentence.endswith('failed, but not with "^crc:": magic: taken')


def test_exit_0_when_only_known_failures_fail(tmp_path: Path) -> None:
    by = profile(tmp_path, 'CONN-002 matches="^why" expires=2026-06-01', "CONN-003")
    failed = [check("CONN-002", V.FAILED), check("CONN-003", V.FAILED)]
    got = judge(tmp_path, PASS, *failed, by=by)
    assert got.exit_code is GateExit.OK
    assert got.known == (("reference", "CONN-002"), ("reference", "CONN-003"))


def test_exit_1_for_unexpected_failure(tmp_path: Path) -> None:
    got = judge(tmp_path, PASS, check("CONN-002", V.FAILED, reason="got 3"))
    assert got.exit_code is GateExit.UNEXPECTED_FAILURE
    assert [one.sentence for one in got.findings] == ["reference: CONN-002 failed: got 3"]


def test_exit_1_for_known_failure_with_different_reason(tmp_path: Path) -> None:
    by = profile(tmp_path, 'CONN-002 matches="got_3"')
    failed = [
        check("CONN-002", V.FAILED, case="a", reason="got_3"),
        check("CONN-002", V.FAILED, case="b", reason="timeout"),
    ]
    got = judge(tmp_path, PASS, *failed, by=by)
    assert got.exit_code is GateExit.UNEXPECTED_FAILURE
    assert got.findings[0].sentence.endswith('CONN-002 failed, but not with "got_3": timeout')
    assert got.known == ()
    assert judge(tmp_path, PASS, failed[0], by=by).exit_code is GateExit.OK


def test_exit_1_for_failure_in_first_attempt_only(tmp_path: Path) -> None:
    attempts = [check("CONN-002", V.FAILED), check("CONN-002", attempt=2)]
    assert judge(tmp_path, PASS, *attempts).exit_code is GateExit.UNEXPECTED_FAILURE


def test_missing_results_or_contradictory_profile_raises_error(tmp_path: Path) -> None:
    with pytest.raises(ResultsNotFound, match="there is no such folder"):
        gate(tmp_path / "none")
    with pytest.raises(ResultsNotFound, match="neither runs/ nor results/"):
        gate(tmp_path)
    write_run(tmp_path, [PASS], about=header(target="kafka:4.4.0"))
    by = profile(tmp_path, 'CONN-002 target="kafka:4*"', 'CONN-002 target="kafka:*0"')
    with pytest.raises(ProfileError, match="contradictory entries"):
        gate(tmp_path, by)


def test_exit_3_for_run_without_footer(tmp_path: Path) -> None:
    write_run(tmp_path, [PASS], footer=False)
    got = gate(tmp_path)
    assert got.exit_code is GateExit.INCOMPLETE
    assert "run r1 is incomplete: it has no footer" in got.findings[0].sentence


def test_exit_3_for_journal_cut_at_any_byte(tmp_path: Path) -> None:
    path = write_run(tmp_path, [PASS])
    data = path.read_bytes()
    for size in range(0, len(data) - 1, 7):
        path.write_bytes(data[:size])
        assert gate(tmp_path).exit_code is GateExit.INCOMPLETE, size
    path.unlink()
    assert gate(tmp_path).exit_code is GateExit.INCOMPLETE


def test_exit_3_for_folder_without_runs(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    got = gate(tmp_path)
    assert got.exit_code is GateExit.INCOMPLETE
    assert "there is no run at all" in got.findings[0].sentence


def test_exit_3_for_missing_planned_check(tmp_path: Path) -> None:
    write_run(tmp_path, [PASS], planned=[check("CONN-002")])
    got = gate(tmp_path, profile(tmp_path, present="CONN-002"))
    assert got.exit_code is GateExit.INCOMPLETE
    assert "CONN-002 was planned in test_x.py::test_CONN-002" in got.findings[0].sentence


@pytest.mark.parametrize(
    ("verdict", "entry"),
    [
        (V.HARNESS_ERROR, "CONN-002"),
        (V.HARNESS_ERROR, 'CONN-002 matches="closed"'),
        (V.INCONCLUSIVE, "CONN-002"),
        (V.INCONCLUSIVE, 'CONN-002 matches="refused"'),
    ],
)
def test_exit_3_for_verdict_that_profile_cannot_excuse(
    tmp_path: Path, verdict: Verdict, entry: str
) -> None:
    by = profile(tmp_path, entry)
    got = judge(tmp_path, PASS, check("CONN-002", verdict, reason="closed"), by=by)
    assert (got.exit_code, got.known) == (GateExit.INCOMPLETE, ())
    assert str(verdict) in got.findings[0].sentence


def test_exit_0_for_inconclusive_check_with_known_reason(tmp_path: Path) -> None:
    by = profile(tmp_path, 'CONN-002 matches="closed"')
    undecided = [
        check("CONN-002", V.INCONCLUSIVE, case="a", reason="closed"),
        check("CONN-002", case="b"),
    ]
    got = judge(tmp_path, PASS, *undecided, by=by)
    assert (got.exit_code, got.known) == (GateExit.OK, (("reference", "CONN-002"),))
    other = check("CONN-002", V.INCONCLUSIVE, case="c", reason="no answer")
    got = judge(tmp_path, PASS, *undecided, other, by=by)
    assert got.exit_code is GateExit.INCOMPLETE


def test_exit_3_when_nothing_passed(tmp_path: Path) -> None:
    by = profile(tmp_path, "CONN-002")
    got = judge(tmp_path, check("CONN-002", V.FAILED), by=by)
    assert got.exit_code is GateExit.INCOMPLETE
    assert "nothing passed" in got.findings[0].sentence


def test_exit_4_for_known_failure_that_passed(tmp_path: Path) -> None:
    got = judge(tmp_path, PASS, by=profile(tmp_path, "CONN-001"))
    assert got.exit_code is GateExit.KNOWN_FAILURE_PASSED
    assert got.findings[0].sentence.endswith("CONN-001 passed, but is known to fail (known)")


@pytest.mark.parametrize("verdict", [None, V.NOT_APPLICABLE, V.NOT_SUPPORTED])
@pytest.mark.parametrize("named", ["known", "present"])
def test_exit_5_for_profile_entry_no_longer_judged(
    tmp_path: Path, verdict: Verdict | None, named: str
) -> None:
    known, present = (["CONN-002"], "") if named == "known" else ([], "CONN-002")
    by = profile(tmp_path, *known, present=present)
    checks = [] if verdict is None else [check("CONN-002", verdict)]
    got = judge(tmp_path, PASS, *checks, by=by)
    assert got.exit_code is GateExit.VANISHED
    state = "has no check at all" if verdict is None else f"is {verdict}"
    assert f"CONN-002 {state}" in got.findings[0].sentence


def test_exit_5_for_profile_target_without_run(tmp_path: Path) -> None:
    by = profile(tmp_path, 'CONN-002 target="kafka:*"')
    got = judge(tmp_path, PASS, by=by)
    assert got.exit_code is GateExit.VANISHED
    assert 'target "kafka:*", of which there is no run' in got.findings[0].sentence


def test_exit_6_for_expired_entry(tmp_path: Path) -> None:
    by = profile(tmp_path, "CONN-002 expires=2026-05-31")
    got = judge(tmp_path, PASS, check("CONN-002", V.FAILED), by=by)
    assert got.exit_code is GateExit.EXPIRED
    assert got.findings[0].sentence == "CONN-002: its entry expired after 2026-05-31 (known)"


# What each makes hold, in the order in which it decides.
CAUSES = {
    "harness_error": (GateExit.INCOMPLETE, check("CONN-010", V.HARNESS_ERROR), ""),
    "unexpected": (GateExit.UNEXPECTED_FAILURE, check("CONN-011", V.FAILED), ""),
    "unproved": (GateExit.INCOMPLETE, check("CONN-012", V.INCONCLUSIVE), ""),
    "vanished": (GateExit.VANISHED, check("CONN-013", V.NOT_SUPPORTED), "CONN-013"),
    "passed": (GateExit.KNOWN_FAILURE_PASSED, check("CONN-014"), "CONN-014"),
    "expired": (GateExit.EXPIRED, check("CONN-015", V.FAILED), "CONN-015 expires=2026-05-31"),
}


@pytest.mark.parametrize("pair", list(combinations(CAUSES, 2)), ids="+".join)
def test_first_of_two_causes_decides_exit_and_both_are_reported(
    tmp_path: Path, pair: tuple[str, str]
) -> None:
    first, second = (CAUSES[name] for name in pair)
    by = profile(tmp_path, *filter(None, (first[2], second[2])))
    for order in ((first, second), (second, first)):
        got = judge(tmp_path, PASS, *(cause[1] for cause in order), by=by)
        assert got.exit_code is first[0]
        assert [one.kind.exit_code for one in got.findings] == [first[0], second[0]]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(sorted(CAUSES)), st.integers(0, len(CAUSES)))
def test_first_of_any_causes_decides_exit_and_all_are_reported(
    tmp_path: Path, order: list[str], many: int
) -> None:
    causes = [CAUSES[name] for name in order[:many]]
    by = profile(tmp_path, *(cause[2] for cause in causes if cause[2]))
    got = judge(tmp_path, PASS, *(cause[1] for cause in causes), by=by)
    expected = next((c[0] for name, c in CAUSES.items() if name in order[:many]), GateExit.OK)
    assert got.exit_code is expected
    assert len(got.findings) == many


def test_gate_uses_newest_run_of_target_by_instant(tmp_path: Path) -> None:
    # 12:00+02:30 is before 10:00 UTC: instants are compared, not texts.
    older = header("z", started_at="2026-05-01T12:00:00+02:30")
    write_run(tmp_path, [check(verdict=V.FAILED)], about=older)
    write_run(tmp_path, [PASS], about=header("a"))
    got = gate(tmp_path)
    assert (got.exit_code, got.runs) == (GateExit.OK, {"reference": "a"})


def test_incomplete_newest_run_is_not_replaced_by_older_run(tmp_path: Path) -> None:
    write_run(tmp_path, [PASS], about=header("r1"))
    newer = header("r2", started_at="2026-05-01T11:00:00+00:00")
    write_run(tmp_path, [PASS], about=newer, footer=False)
    assert gate(tmp_path).exit_code is GateExit.INCOMPLETE
    write_run(tmp_path, [PASS], about=header("r3", started_at="2026-05-01T12:00:00+00:00"))
    assert gate(tmp_path).exit_code is GateExit.OK


def test_gate_judges_each_target_separately(tmp_path: Path) -> None:
    write_run(tmp_path, [PASS, check("CONN-002")], about=header("r1", "reference"))
    kafka = header("r2", "kafka:4.4.0")
    write_run(tmp_path, [PASS, check("CONN-002", V.FAILED)], about=kafka)
    got = gate(tmp_path)
    assert [(one.target, one.requirement) for one in got.findings] == [("kafka:4.4.0", "CONN-002")]
    by = profile(tmp_path, 'CONN-002 target="kafka:4.4.0"')
    assert gate(tmp_path, by, TODAY).exit_code is GateExit.OK
    everywhere = profile(tmp_path, "CONN-002")
    assert gate(tmp_path, everywhere, TODAY).exit_code is GateExit.KNOWN_FAILURE_PASSED


def test_duplicate_run_exits_3(tmp_path: Path) -> None:
    write_run(tmp_path, [PASS])
    shutil.copytree(tmp_path / "runs" / "r1", tmp_path / "runs" / "copy")
    got = gate(tmp_path)
    assert got.exit_code is GateExit.INCOMPLETE
    assert "run r1 is there twice" in got.findings[0].sentence


@pytest.mark.parametrize("kept", ["out", "results"])
@pytest.mark.parametrize("footer", [True, False])
def test_gate_gives_same_result_from_parquet_without_journals(
    tmp_path: Path, kept: str, footer: bool
) -> None:
    gone = [] if footer else [check("CONN-003")]
    write_run(tmp_path, [PASS, check("CONN-002", V.FAILED)], footer=footer, planned=gone)
    ensure_parquet(RESULTS, tmp_path)
    expected = gate(tmp_path)
    shutil.rmtree(tmp_path / "runs")
    assert gate(tmp_path if kept == "out" else tmp_path / "results") == expected


def test_unreadable_parquet_file_exits_3_when_journal_is_missing(tmp_path: Path) -> None:
    write_run(tmp_path, [PASS])
    ensure_parquet(RESULTS, tmp_path)
    RESULTS.part_path(tmp_path, "r1").write_bytes(b"PAR1")
    assert gate(tmp_path).exit_code is GateExit.OK  # the journal is what counts
    (tmp_path / "runs" / "r1" / "journal.jsonl").unlink()
    assert gate(tmp_path).exit_code is GateExit.INCOMPLETE


def test_written_profile_accepts_results_it_was_made_from(tmp_path: Path) -> None:
    checks = [PASS, check("CONN-002", V.FAILED), check("CONN-003", V.NOT_SUPPORTED)]
    write_run(tmp_path, checks)
    path = tmp_path / "profile.toml"
    write_profile(tmp_path, path)
    by = load_profile(path, load_catalogue())
    assert gate(tmp_path, by, TODAY).exit_code is GateExit.OK
    write_run(tmp_path, checks[1:], about=replace(header("r2"), started_at="2027-01-01T00:00:00Z"))
    kinds = {one.kind.exit_code for one in gate(tmp_path, by, TODAY).findings}
    assert kinds == {GateExit.VANISHED, GateExit.INCOMPLETE}
    with pytest.raises(FileExistsError):
        write_profile(tmp_path, path)


def test_write_profile_refuses_incomplete_run(tmp_path: Path) -> None:
    write_run(tmp_path, [PASS], footer=False)
    with pytest.raises(ResultsNotWhole, match="incomplete"):
        write_profile(tmp_path, tmp_path / "profile.toml")
    assert not (tmp_path / "profile.toml").exists()


def test_release_range_without_matching_run_exits_0(tmp_path: Path) -> None:
    ranged = 'CONN-002 target="kafka:0.8.0..0.9.0.1"'
    write_run(tmp_path, [PASS], about=header(target="kafka:4.4.0"))
    assert gate(tmp_path, profile(tmp_path, ranged)).exit_code is GateExit.OK
    old = [PASS, check("CONN-002", V.FAILED)]
    write_run(tmp_path, old, about=header("r2", target="kafka:0.8.2.2"))
    got = gate(tmp_path, profile(tmp_path, ranged))
    assert (got.exit_code, got.known) == (GateExit.OK, (("kafka:0.8.2.2", "CONN-002"),))

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.conformance import journal as journals
from harness.conformance.journal import (
    ChecksCountMismatch,
    CorruptLine,
    DuplicateHeader,
    EmptyJournal,
    ForeignCheck,
    Journal,
    JournalWriter,
    MisplacedLine,
    journals_in,
    read_journal,
)
from harness.conformance.record import CheckRecord, RecordError, RunHeader
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, plan_of, write_run

CHECKS = [check("CONN-001"), check("CONN-002", Verdict.FAILED, reason='ä "quoted"\nline two')]


def test_written_journal_is_read_back_equal(tmp_path: Path) -> None:
    got = read_journal(write_run(tmp_path, CHECKS))
    assert got.header == header()
    assert got.plan == plan_of(CHECKS)
    assert list(got.checks) == CHECKS
    assert got.footer is not None
    assert (got.footer.checks, got.footer.exit) == (2, 0)
    assert got.finished
    assert got.defect is None


def test_header_without_versions_source_reads_as_advertised(tmp_path: Path) -> None:
    path = write_run(tmp_path, CHECKS)
    first, *rest = path.read_text("utf-8").splitlines(keepends=True)
    fields = json.loads(first)
    assert fields.pop("versions_source") == "advertised"
    path.write_text(json.dumps(fields) + "\n" + "".join(rest), "utf-8")
    assert read_journal(path).header == header()


def test_versions_source_is_kept_and_validated(tmp_path: Path) -> None:
    about = replace(header(), versions_source="observed")
    assert read_journal(write_run(tmp_path, CHECKS, about=about)).header == about
    guessed = {**about.to_json(), "versions_source": "guessed"}
    with pytest.raises(RecordError, match='"versions_source" may not be'):
        RunHeader.from_json(guessed)


def test_journal_lines_have_published_keys(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in write_run(tmp_path, CHECKS).read_text().splitlines()]
    assert [line["type"] for line in lines] == ["header", "plan", "check", "check", "footer"]
    assert lines[0]["journal_version"] == 1
    assert lines[0]["api_versions"] == {"0": [0, 13], "18": [0, 4]}
    assert lines[1]["cases"][0]["requirements"] == ["CONN-001"]
    assert lines[2].keys() == {
        *("type", "run", "suite_version", "catalogue_version", "seed", "target"),
        *("implementation", "release", "requirement", "area", "level", "case", "check", "subtest"),
        *("attempt", "api_key", "api_version", "verdict", "reason", "capability_missing"),
        *("duration_ms", "evidence", "at"),
    }
    assert lines[4].keys() == {"type", "finished_at", "checks", "exit"}


def test_check_of_older_journal_has_no_subtest(tmp_path: Path) -> None:
    path = write_run(tmp_path, CHECKS)
    older = path.read_text().replace('"subtest": null, ', "")
    assert older != path.read_text()
    path.write_text(older)
    assert read_journal(path).checks == tuple(CHECKS)


def test_journal_cut_at_any_byte_is_unfinished_and_keeps_whole_checks(tmp_path: Path) -> None:
    path = write_run(tmp_path, CHECKS)
    data = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]
    cut = tmp_path / "cut.jsonl"
    for size in range(len(data) - 1):
        cut.write_bytes(data[:size])
        whole = sum(1 for end in ends if end - 1 <= size)
        if whole == 0:
            with pytest.raises(EmptyJournal):
                read_journal(cut)
            continue
        got = read_journal(cut)
        assert not got.finished
        assert got.defect is not None
        assert list(got.checks) == CHECKS[: max(0, whole - 2)]
        torn = size not in ends and size + 1 not in ends
        assert got.torn_line == (whole + 1 if torn else None), size
        assert ("torn" in got.defect) == torn


def test_torn_line_before_last_raises_corrupt_line(tmp_path: Path) -> None:
    path = write_run(tmp_path, CHECKS)
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2][:20]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(CorruptLine, match="line 3 is not JSON"):
        read_journal(path)


def test_torn_line_after_footer_raises_corrupt_line(tmp_path: Path) -> None:
    path = write_run(tmp_path, CHECKS)
    path.write_bytes(path.read_bytes() + b'{"type": "che')
    with pytest.raises(CorruptLine, match="line 6 is not JSON"):
        read_journal(path)


def edit_lines(path: Path, change: Callable[[list[Any]], None]) -> Path:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda lines: lines.insert(1, lines[0]), DuplicateHeader, "line 2 is a second header"),
        (lambda lines: lines.insert(1, lines[1]), MisplacedLine, "line 3 is a second plan"),
        (lambda lines: lines.pop(0), MisplacedLine, "line 1 is a plan line, but"),
        (lambda lines: lines.pop(1), MisplacedLine, "line 2 is a check line before the plan"),
        (lambda lines: lines.pop(2), ChecksCountMismatch, "counts 2 checks, the file holds 1"),
        (
            lambda lines: lines.insert(2, lines[2]),
            ChecksCountMismatch,
            "counts 2 checks, the file holds 3",
        ),
        (lambda lines: lines.append(lines[2]), MisplacedLine, "line 6 comes after the footer"),
        (lambda lines: lines[2].update(run="r2"), ForeignCheck, 'line 3: "run" is not that'),
        (lambda lines: lines[2].update(seed=8), ForeignCheck, '"seed" is not that'),
        (lambda lines: lines[2].pop("seed"), CorruptLine, 'lacks "seed"'),
        (lambda lines: lines[2].pop("verdict"), CorruptLine, 'a check lacks "verdict"'),
        (lambda lines: lines[2].update(verdict="ok"), CorruptLine, "\"verdict\" may not be 'ok'"),
        (lambda lines: lines[2].update(verdikt=1), CorruptLine, 'did you mean "verdict"'),
        (lambda lines: lines[2].update(check="1"), CorruptLine, '"check" may not be'),
        (lambda lines: lines[2].update(subtest=""), CorruptLine, '"subtest" may not be'),
        (lambda lines: lines[2].update(api_key=True), CorruptLine, '"api_key" may not be'),
        (lambda lines: lines[2].update(at="noon"), CorruptLine, '"at" may not be'),
        (lambda lines: lines[2].update(at="2026-01-01T00:00:00"), CorruptLine, '"at" may not'),
        (lambda lines: lines[2].update(type="chek"), CorruptLine, "line 3 is no header, plan"),
        (lambda lines: lines.__setitem__(2, 5), CorruptLine, "line 3 is no header, plan"),
        (lambda lines: lines[0].update(journal_version=2), CorruptLine, "journal_version is 2"),
        (lambda lines: lines[0].update(run="../x"), CorruptLine, '"run" may not be'),
        (lambda lines: lines[0].update(run="2026"), CorruptLine, '"run" may not be'),
        (lambda lines: lines[0].update(api_versions={"0": 3}), CorruptLine, '"api_versions"'),
        (lambda lines: lines[1].update(cases=[{}]), CorruptLine, 'planned case lacks "case"'),
        (lambda lines: lines[1].update(cases=None), CorruptLine, "the plan holds exactly"),
        (lambda lines: lines[4].pop("exit"), CorruptLine, 'the footer lacks "exit"'),
    ],
)
def test_each_broken_rule_raises_specific_error(
    tmp_path: Path, change: Callable[[list[Any]], None], error: type[Exception], message: str
) -> None:
    path = edit_lines(write_run(tmp_path, CHECKS), change)
    with pytest.raises(error, match=message) as caught:
        read_journal(path)
    assert str(path) in str(caught.value)


def test_missing_journal_raises_empty_journal(tmp_path: Path) -> None:
    (tmp_path / "runs" / "r1").mkdir(parents=True)
    (path,) = journals_in(tmp_path)
    with pytest.raises(EmptyJournal, match="is missing"):
        read_journal(path)


def test_writer_refuses_lines_out_of_order(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "j") as writer:
        with pytest.raises(EmptyJournal):
            writer.journal()
        with pytest.raises(MisplacedLine, match="header comes first"):
            writer.write_plan([])
        writer.write_header(header())
        with pytest.raises(MisplacedLine, match="written already"):
            writer.write_header(header())
        with pytest.raises(MisplacedLine, match="plan comes first"):
            writer.write_check(CHECKS[0])
        with pytest.raises(MisplacedLine, match="plan comes first"):
            writer.write_footer("2026-05-01T10:01:00+00:00", 0)
        writer.write_plan(plan_of(CHECKS))
        writer.write_check(CHECKS[0])
        assert writer.journal() == read_journal(tmp_path / "j")
        writer.write_footer("2026-05-01T10:01:00+00:00", 0)
        assert writer.journal() == read_journal(tmp_path / "j")
        with pytest.raises(MisplacedLine, match="footer is written already"):
            writer.write_check(CHECKS[0])


def test_writer_refuses_existing_journal(tmp_path: Path) -> None:
    path = write_run(tmp_path, CHECKS)
    with pytest.raises(FileExistsError):
        JournalWriter(path)


def test_writer_refuses_invalid_header(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "j") as writer, pytest.raises(RecordError, match='"run"'):
        writer.write_header(header(run="a/b"))


KILLED = """
import sys
from pathlib import Path
from tests.conformance.made import check, header, plan_of
from harness.conformance.journal import JournalWriter
writer = JournalWriter(Path(sys.argv[1]))
writer.write_header(header())
checks = [check(f"CONN-{n:03}") for n in range(1, 21)]
writer.write_plan(plan_of(checks))
for one in checks:
    writer.write_check(one)
print("written", flush=True)
sys.stdin.read()
"""


def test_sigkill_of_writer_loses_no_written_check(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(journals.__file__).parents[2],
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        os.kill(process.pid, signal.SIGKILL)
    got = read_journal(path)
    assert len(got.checks) == 20
    assert got.defect == "it has no footer: the run did not come to its end"


records = st.builds(
    check,
    st.sampled_from(["CONN-001", "PROD-011", "G848-002"]),
    st.sampled_from(Verdict),
    reason=st.text(),
    case=st.text(min_size=1),
    attempt=st.integers(1, 5),
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(records, max_size=5))
def test_any_check_text_round_trips(
    tmp_path_factory: pytest.TempPathFactory, checks: list[CheckRecord]
) -> None:
    got: Journal = read_journal(write_run(tmp_path_factory.mktemp("run"), checks))
    assert list(got.checks) == checks
    assert [CheckRecord.from_json(one.to_json()) for one in checks] == checks

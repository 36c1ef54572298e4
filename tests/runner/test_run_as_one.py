"""``run --as-one``: further set-ups of one broker get what the first ones left undecided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.commands.judging import JudgedTarget
from harness.commands.run_as_one import record_runs, undecided
from harness.conformance.as_one_record import AsOneRecord, AsOneRecordError, as_one_records
from harness.conformance.joined_runs import joined
from harness.conformance.journal import read_journal
from harness.conformance.record import CheckRecord
from harness.conformance.summary import RunSummary, summarize
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, write_run

LACKS, FAILED = Verdict.NOT_APPLICABLE, Verdict.FAILED


def run_of(folder: Path, *checks: CheckRecord) -> RunSummary:
    return summarize(read_journal(write_run(folder, checks)))


def test_joined_runs_have_the_worst_verdict_and_all_checks(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", check("ACKS-001"), check("ACKS-002", LACKS))
    second = run_of(
        tmp_path / "b",
        check("ACKS-001", FAILED),
        check("ACKS-002"),
    )
    found = joined([first, second])
    assert {name: one.verdict for name, one in found.requirements.items()} == {
        "ACKS-001": Verdict.FAILED,
        "ACKS-002": Verdict.PASSED,
    }
    assert [len(one.checks) for one in found.requirements.values()] == [2, 2]
    assert found.counts[Verdict.FAILED] == found.counts[Verdict.PASSED] == 1
    assert sum(found.counts.values()) == 2


def test_a_further_set_up_gets_undecided_requirements_with_a_test(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", check("ACKS-001"), check("ACKS-002", LACKS))
    left = undecided([JudgedTarget("reference", tmp_path, first, "")], [])
    assert "ACKS-001" not in left
    assert {"ACKS-002", "REPL-001"} <= set(left)
    assert undecided([JudgedTarget("reference", tmp_path, first, "")], ["ACKS-00[12]"]) == [
        "ACKS-002"
    ]


def test_one_node_and_three_have_one_headline(tmp_path: Path) -> None:
    words = ["run", "--as-one", "--target", "reference", "--target", "reference,nodes=3"]
    words += ["--requirement", "APIV-001", "--requirement", "META-011"]
    ended = CliRunner().invoke(main, [*words, "--out", str(tmp_path), "--json"])
    assert ended.exit_code == 0, ended.output
    found = json.loads(ended.stdout)
    one, three = found["runs"]
    assert one["requirements"] == {"APIV-001": "passed", "META-011": "not_applicable"}
    assert three["requirements"] == {"META-011": "passed"}
    assert found["as_one"]["judged"] == 2
    ended = CliRunner().invoke(
        main, ["report", "--light", str(tmp_path), "--out", str(tmp_path / "report")]
    )
    assert ended.exit_code == 0, ended.output
    [column] = json.loads((tmp_path / "report" / "matrix.json").read_text("utf-8"))["joined"]
    assert column["name"] == "reference as one"
    assert column["targets"] == ["reference", "reference,nodes=3"]
    assert column["headline"] == found["as_one"]
    assert column["verdicts"] == {"APIV-001": "passed", "META-011": "passed"}


def test_records_name_the_runs_of_a_broker_in_order(tmp_path: Path) -> None:
    records = [AsOneRecord("reference", ["b", "a"]), AsOneRecord("kafka:4.4.0", ["c", "d"])]
    for one in records:
        one.write(tmp_path)
    assert as_one_records(tmp_path) == as_one_records(tmp_path / "results") == records
    assert as_one_records(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("text", ["{", "[]", '{"broker": "x"}', '{"broker": "x", "runs": []}'])
def test_a_damaged_record_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    AsOneRecord("reference", ["a", "b"]).write(tmp_path)
    file = tmp_path / "as-one" / "a.json"
    file.write_text(text, "utf-8")
    with pytest.raises(AsOneRecordError, match=r"a\.json: no record of runs .* take it away"):
        as_one_records(tmp_path)


def test_a_single_run_leaves_no_record(tmp_path: Path) -> None:
    record_runs([JudgedTarget("reference", tmp_path / "runs" / "a", None, "")], tmp_path)
    assert as_one_records(tmp_path) == []


@pytest.mark.parametrize(
    ("targets", "says"),
    [
        (["reference"], "joins several targets"),
        (["reference", "reference,like=2.8.2"], "two brokers"),
        (["reference", "kafka:4.4.0,nodes=3"], "two brokers"),
    ],
)
def test_other_targets_are_refused(tmp_path: Path, targets: list[str], says: str) -> None:
    words = [word for one in targets for word in ("--target", one)]
    ended = CliRunner().invoke(main, ["run", "--as-one", *words, "--out", str(tmp_path)])
    assert ended.exit_code == 2
    assert says in ended.output

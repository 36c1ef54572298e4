"""A whole report over thousands of drawn rows: right, whole, the same again, nothing left."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import astuple, replace
from pathlib import Path

import psutil
import pytest
from jsonschema import Draft202012Validator, ValidationError

from harness.conformance.headline import Headline, NotJudgedGroup, as_json
from reports.as_html import matrix_html
from reports.as_json import SCHEMA_FILE, matrix_json
from reports.as_junit import matrix_junit
from reports.as_markdown import matrix_markdown
from reports.build import RENDERINGS, build_report
from reports.dataset import find_datasets
from reports.errors import ReportError
from reports.evidence import evidence_path, read_evidence
from reports.histories import histories
from reports.joined_columns import joined_columns
from reports.matrix import Matrix, read_matrix, read_table
from reports.verdicts import WORST_FIRST

from .conftest import STATEMENTS, WORDING, DrawnReport
from .made_matrix import HEADLINE, MUTANTS, small
from .made_results import wire_rows
from .second_opinion import api_opinion, second_opinion


@pytest.fixture(name="matrix")
def _matrix(drawn_report: DrawnReport) -> Matrix:
    (dataset,) = find_datasets([drawn_report.results])
    matrix = read_matrix(drawn_report.paths.folder, dataset.runs)
    return replace(
        matrix,
        evidence=read_evidence(matrix, [dataset]),
        mutants=MUTANTS,
        headlines=WORDING.headlines,
        joined=joined_columns(
            {run.target: run.run for run in matrix.counted_runs.values()}, WORDING.as_one
        ),
    )


def test_drawn_rows_cover_all_verdicts_and_incomplete_runs(drawn_report: DrawnReport) -> None:
    rows = drawn_report.rows
    assert len(rows) > 3000
    assert {row["verdict"] for row in rows} == {word.name for word in WORST_FIRST}
    assert {row["run_complete"] for row in rows} == {True, False}
    runs_of = Counter(target for target, _ in {(row["target"], row["run"]) for row in rows})
    assert runs_of["kafka:4.4.0"] == 3


def test_matrix_equals_independent_computation(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    expected = second_opinion(drawn_report.results)
    assert said["targets"] == sorted(expected["newest"])
    assert {run["target"]: run["run"] for run in said["runs"] if run["counts"]} == (
        expected["newest"]
    )
    found = {
        requirement["id"]: {
            "area": requirement["area"],
            "level": requirement["level"],
            "verdicts": requirement["verdicts"],
            "parts": {
                target: {(part["case"], part["api_version"]): part["verdict"] for part in parts}
                for target, parts in requirement["parts"].items()
            },
        }
        for requirement in said["requirements"]
    }
    assert found == expected["requirements"]
    worst = {verdict for row in found.values() for verdict in row["verdicts"].values()}
    assert worst == {word.name for word in WORST_FIRST}


def test_area_counts_equal_independent_computation(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    found = {
        (area["area"], area["target"], area["level"], verdict): count
        for area in said["areas"]
        for verdict, count in area["counts"].items()
        if count
    }
    assert found == second_opinion(drawn_report.results)["counts"]
    assert all(sum(area["counts"].values()) == area["requirements"] for area in said["areas"])


def test_run_ids_stay_text_and_newest_run_is_used(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    counted = {run["target"]: run["run"] for run in said["runs"] if run["counts"]}
    assert counted == {
        "kafka:4.4.0": "42",
        "reference": "2026-01-01",
        "kafka:3.9.2": "r-b",
        "external:127.0.0.1:9092": "true",
    }
    assert {run["run"] for run in said["runs"]} >= {"0042", "42", "1e3", "7"}


def test_incomplete_runs_are_reported_in_every_rendering(drawn_report: DrawnReport) -> None:
    paths = drawn_report.paths
    assert paths.incomplete == ("1e3", "2026-01-01")
    assert json.loads(paths.json.read_text())["incomplete"] == ["1e3", "2026-01-01"]
    for text in (paths.markdown.read_text(), paths.html.read_text()):
        assert "Run 2026-01-01 of reference is incomplete" in text
        assert "Run 1e3 of kafka:4.4.0 is incomplete; a newer run counts" in text
    assert "INCOMPLETE" in paths.markdown.read_text().split("## ")[0]
    assert "<title>Kafka compatibility matrix (INCOMPLETE)</title>" in paths.html.read_text()


def test_json_has_documented_keys_and_statements(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    for requirement in said["requirements"]:
        assert list(requirement) == ["id", "area", "level", "statement", "verdicts", "parts"]
        for parts in requirement["parts"].values():
            assert all(set(part) >= {"case", "api_version", "verdict"} for part in parts)
    statements = {row["id"]: row["statement"] for row in said["requirements"]}
    assert {name: statements[name] for name in STATEMENTS} == STATEMENTS


def test_second_rendering_gives_identical_bytes(drawn_report: DrawnReport, matrix: Matrix) -> None:
    paths = drawn_report.paths
    assert matrix_json(matrix) == paths.json.read_text(encoding="utf-8")
    assert matrix_markdown(matrix) == paths.markdown.read_text(encoding="utf-8")
    assert matrix_junit(matrix) == paths.junit.read_text(encoding="utf-8")
    assert matrix_html(matrix) == paths.html.read_text(encoding="utf-8")


def test_report_leaves_no_temporary_folder(drawn_report: DrawnReport) -> None:
    left = sorted(entry.name for entry in drawn_report.results.iterdir())
    assert left == ["defects", "faults", "histories", "report", "results", "runs", "wire"]


@pytest.mark.deep
def test_report_with_separate_session_is_identical_and_leaves_no_jvm(
    drawn_report: DrawnReport, without_spark: None, tmp_path: Path
) -> None:
    before = set(psutil.Process().children(recursive=True))
    paths = build_report([drawn_report.results], tmp_path / "report", wording=WORDING)
    assert set(psutil.Process().children(recursive=True)) <= before
    for name in RENDERINGS:
        assert (paths.folder / name).read_bytes() == (drawn_report.paths.folder / name).read_bytes()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("master", "why"),
    [
        ("kafka://nowhere", "Master must either be yarn or start with"),  # the JVM doesn't stay
        ("local[0]", "Asked to run locally with 0 threads"),  # the JVM starts, the context not
    ],
)
def test_failed_spark_start_raises_report_error_and_leaves_no_jvm(
    drawn_report: DrawnReport, without_spark: None, tmp_path: Path, master: str, why: str
) -> None:
    from pyspark import SparkContext

    before = machines()
    with pytest.raises(ReportError, match=why) as error:
        build_report([drawn_report.results], tmp_path / "report", master)
    assert master in error.value.where
    assert machines() <= before
    assert SparkContext._active_spark_context is None
    assert list(tmp_path.iterdir()) == []


def machines() -> set[psutil.Process]:
    """Ours, of Java: browsers of other tests come and go beside them."""
    return {each for each in psutil.Process().children(recursive=True) if is_java(each)}


def is_java(process: psutil.Process) -> bool:
    try:
        return "java" in process.name()
    except psutil.NoSuchProcess:
        return False


def test_json_matches_published_schema(drawn_report: DrawnReport) -> None:
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    said = json.loads(drawn_report.paths.json.read_text())
    Draft202012Validator(schema).validate(said)
    beside = drawn_report.paths.folder / said["$schema"]
    assert beside.read_bytes() == SCHEMA_FILE.read_bytes()
    assert said["schema_version"] == schema["properties"]["schema_version"]["const"]
    # Every part of the form is met, and a stranger in it is refused.
    assert all(said[name] for name in schema["required"])
    said["runs"][0]["colour"] = "red"
    with pytest.raises(ValidationError, match="colour"):
        Draft202012Validator(schema).validate(said)


def test_json_has_headline_of_each_target_as_run_and_gate_have_it(
    drawn_report: DrawnReport,
) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    assert list(said["headlines"]) == said["targets"]
    groups = tuple(NotJudgedGroup(*astuple(one)) for one in HEADLINE.not_judged)
    of_run = Headline(
        requirements=HEADLINE.requirements,
        judged=HEADLINE.judged,
        musts=HEADLINE.musts,
        musts_passed=HEADLINE.musts_passed,
        not_judged=groups,
    )
    assert list(said["headlines"].values()) == [as_json(of_run)] * len(said["targets"])


def test_json_of_report_without_catalogue_has_no_headlines() -> None:
    assert json.loads(matrix_json(small()))["headlines"] == {}


def test_api_versions_equal_independent_computation(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    found = {
        (api["api_key"], api["api_version"], target): entry
        for api in said["api_versions"]
        for target, entry in api["targets"].items()
    }
    expected = api_opinion(drawn_report.results)
    assert found == expected
    names = {"Produce", "unknown 18", "unknown 10003"}
    assert {api["api_name"] for api in said["api_versions"]} == names
    assert any(entry["decodable"] for entry in found.values())
    produce = {version: entry for (key, version, _), entry in found.items() if key == 0}
    assert not any(produce[version]["declared"] for version in {0, 10, 11} & set(produce))


def test_wire_coverage_is_summed_for_newest_run(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    expected: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for line in wire_rows("kafka:4.4.0", 1):
        name = line.get("error_name") or line.get("field", "")
        expected[line["direction"], line["what"], name] += line["count"]
    found = {}
    for seen in said["wire"]:
        assert (seen["target"], seen["api_name"], seen["api_version"]) == (
            "kafka:4.4.0",
            "Produce",
            9,
        )
        found[seen["direction"], "message", ""] = seen["messages"]
        for error in seen["errors"]:
            found[seen["direction"], "error", error["name"]] = error["count"]
        for field, states in seen["fields"].items():
            found |= {(seen["direction"], state, field): n for state, n in states.items()}
    assert found == expected
    assert said["wire_missing"] == ["external:127.0.0.1:9092", "kafka:3.9.2", "reference"]


def test_fault_timelines_come_from_newest_run(drawn_report: DrawnReport) -> None:
    first, second = json.loads(drawn_report.paths.json.read_text())["faults"]
    case = "protocol/test_prod.py::test_0"
    assert [
        (one["target"], one["case"], one["attempt"], one["count"]) for one in (first, second)
    ] == [
        ("kafka:4.4.0", case, 1, 1),
        ("kafka:4.4.0", case, 2, 250),
    ]
    assert first["events"] == [{"at_ms": 0.0, "what": "armed", "detail": {}}]
    assert [event["at_ms"] for event in second["events"]] == [2.5 * n for n in range(200)]
    assert second["events"][7] == {
        "at_ms": 17.5,
        "what": "fired",
        "link": "client->broker",
        "connection": 0,
        "direction": "upstream",
        "frame": 2,
        "rule": "drop it",
        "detail": {"action": "drop", "version": 3},
    }


def test_histories_come_from_newest_run(drawn_report: DrawnReport) -> None:
    (said,) = json.loads(drawn_report.paths.json.read_text())["histories"]
    case = "protocol/test_prod.py::test_0"
    counts = {"sent": 2502, "acknowledged": 2500, "failed": 1, "unknown": 1, "in_log": 2500}
    faults = [{"at_ms": 5000.0, "what": "kill 2"}]
    about = {"target": "kafka:4.4.0", "case": case, "attempt": 1}
    assert said == {**about, **counts, "faults": faults}


def test_history_of_many_sends_is_sampled(drawn_report: DrawnReport) -> None:
    """Of those that were acknowledged alone; each from its beginning to its end."""
    (one,) = histories(read_table(drawn_report.paths.histories))
    done = [span for span in one.spans if span.outcome == "ok"]
    assert one.every == 3
    assert [span.value for span in done] == [f"{n}" for n in range(0, 2500, 3)]
    assert {span.ended_ms - span.began_ms for span in done if span.ended_ms} == {1.0}
    killed, refused, lost = one.spans[len(done) :]
    assert (killed.action, killed.detail) == ("fault", "kill 2")
    assert (refused.outcome, refused.detail) == ("fail", "NOT_ENOUGH_REPLICAS")
    assert (lost.outcome, lost.ended_ms) == ("invoke", None)


def test_newer_of_two_defect_tables_is_used(drawn_report: DrawnReport) -> None:
    (defect,) = json.loads(drawn_report.paths.json.read_text())["defects"]
    assert (defect["defect"], defect["target"], defect["killed"]) == (
        "acks_are_early",
        "reference",
        True,
    )
    assert defect["changed"] == [{"requirement": "PROD-004", "was": "passed", "now": "failed"}]


def test_evidence_files_are_copied_next_to_page(drawn_report: DrawnReport, matrix: Matrix) -> None:
    runs = {run.run for run in matrix.counted_runs.values()}
    assert {run for run, _ in matrix.evidence} == runs
    for run in runs:
        file = drawn_report.paths.folder / evidence_path(run, "evidence/x.txt")
        assert file.read_text() == f"repeat   pytest of {run}\n-- wire --\n> Produce\n"


def test_page_and_markdown_contain_no_unescaped_markup(drawn_report: DrawnReport) -> None:
    text = drawn_report.paths.html.read_text()
    assert text.count("<script") == 2  # the data and the page's own
    assert "\\u003c/script>\\u003cscript>alert(1)" in text
    assert "seen 1 \\u003cb>" in text
    assert "default-src 'none'" in text
    assert "<script>" not in drawn_report.paths.markdown.read_text()

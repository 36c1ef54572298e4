"""A whole report over thousands of drawn rows: right, whole, the same again, nothing left."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import psutil
import pytest

from reports.as_html import matrix_html
from reports.as_json import matrix_json
from reports.as_markdown import matrix_markdown
from reports.build import build_report
from reports.dataset import find_datasets
from reports.errors import ReportError
from reports.matrix import Matrix, read_matrix
from reports.verdicts import WORST_FIRST

from .conftest import STATEMENTS, DrawnReport
from .second_opinion import second_opinion


@pytest.fixture(name="matrix")
def _matrix(drawn_report: DrawnReport) -> Matrix:
    (dataset,) = find_datasets([drawn_report.results])
    return read_matrix(drawn_report.paths.folder, dataset.runs)


def test_drawn_rows_hold_what_they_promise(drawn_report: DrawnReport) -> None:
    rows = drawn_report.rows
    assert len(rows) > 3000
    assert {row["verdict"] for row in rows} == {word.name for word in WORST_FIRST}
    assert {row["run_complete"] for row in rows} == {True, False}
    runs_of = Counter(target for target, _ in {(row["target"], row["run"]) for row in rows})
    assert runs_of["kafka:4.4.0"] == 3


def test_spark_and_second_opinion_agree(drawn_report: DrawnReport) -> None:
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


def test_areas_and_second_opinion_agree(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    found = {
        (area["area"], area["target"], area["level"], verdict): count
        for area in said["areas"]
        for verdict, count in area["counts"].items()
        if count
    }
    assert found == second_opinion(drawn_report.results)["counts"]
    assert all(sum(area["counts"].values()) == area["requirements"] for area in said["areas"])


def test_run_ids_stay_text_and_newest_counts(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    counted = {run["target"]: run["run"] for run in said["runs"] if run["counts"]}
    assert counted == {
        "kafka:4.4.0": "42",
        "reference": "2026-01-01",
        "kafka:3.9.2": "r-b",
        "external:127.0.0.1:9092": "true",
    }
    assert {run["run"] for run in said["runs"]} >= {"0042", "42", "1e3", "7"}


def test_incomplete_runs_are_named_everywhere(drawn_report: DrawnReport) -> None:
    paths = drawn_report.paths
    assert paths.incomplete == ("1e3", "2026-01-01")
    assert json.loads(paths.json.read_text())["incomplete"] == ["1e3", "2026-01-01"]
    for text in (paths.markdown.read_text(), paths.html.read_text()):
        assert "Run 2026-01-01 of reference is incomplete" in text
        assert "Run 1e3 of kafka:4.4.0 is incomplete; a newer run counts" in text
    assert "INCOMPLETE" in paths.markdown.read_text().split("## ")[0]
    assert "<title>Kafka compatibility matrix (INCOMPLETE)</title>" in paths.html.read_text()


def test_json_has_the_promised_keys(drawn_report: DrawnReport) -> None:
    said = json.loads(drawn_report.paths.json.read_text())
    assert set(said) == {"targets", "requirements", "areas", "runs", "incomplete"}
    for requirement in said["requirements"]:
        assert list(requirement) == ["id", "area", "level", "statement", "verdicts", "parts"]
        for parts in requirement["parts"].values():
            assert all(set(part) == {"case", "api_version", "verdict"} for part in parts)
    statements = {row["id"]: row["statement"] for row in said["requirements"]}
    assert {name: statements[name] for name in STATEMENTS} == STATEMENTS


def test_rendering_again_gives_the_same_bytes(drawn_report: DrawnReport, matrix: Matrix) -> None:
    paths = drawn_report.paths
    assert matrix_json(matrix) == paths.json.read_text(encoding="utf-8")
    assert matrix_markdown(matrix) == paths.markdown.read_text(encoding="utf-8")
    assert matrix_html(matrix) == paths.html.read_text(encoding="utf-8")


def test_no_jvm_and_no_half_written_folder_is_left(drawn_report: DrawnReport) -> None:
    assert drawn_report.left_behind == []
    assert sorted(entry.name for entry in drawn_report.results.iterdir()) == ["report", "results"]


@pytest.mark.parametrize(
    ("master", "why"),
    [
        ("kafka://nowhere", "Master must either be yarn or start with"),  # the JVM doesn't stay
        ("local[0]", "Asked to run locally with 0 threads"),  # the JVM starts, the context not
    ],
)
def test_start_that_fails_says_why_and_leaves_no_jvm(
    drawn_report: DrawnReport, tmp_path: Path, master: str, why: str
) -> None:
    from pyspark import SparkContext

    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(ReportError, match=why) as error:
        build_report([drawn_report.results], tmp_path / "report", master)
    assert master in error.value.where
    assert set(psutil.Process().children(recursive=True)) <= before
    assert SparkContext._active_spark_context is None
    assert list(tmp_path.iterdir()) == []


class Page(HTMLParser):
    """What a browser would find: tags with a source, scripts, cells with their words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.cells: list[tuple[str, str]] = []
        self._cell: str | None = None
        self._words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.tags[tag] += 1
        self.ids.update([said["id"] or ""] if "id" in said else [])
        self.sources += [said[name] or "" for name in ("src", "href", "action") if name in said]
        if "data-verdict" in said:
            self._cell, self._words = said["data-verdict"] or "", ""

    def handle_data(self, data: str) -> None:
        self._words += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "td" and self._cell is not None:
            self.cells.append((self._cell, self._words))
            self._cell = None


def test_page_asks_nothing_of_the_network(drawn_report: DrawnReport) -> None:
    text = drawn_report.paths.html.read_text()
    page = Page(text)
    assert [source for source in page.sources if not source.startswith(("#", "data:,"))] == []
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text


def test_page_escapes_what_results_and_statements_say(drawn_report: DrawnReport) -> None:
    text = drawn_report.paths.html.read_text()
    page = Page(text)
    assert page.tags["script"] == 1
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in text
    assert "seen 1 &lt;b&gt;" in text
    assert "<script>" not in drawn_report.paths.markdown.read_text()


def test_every_cell_says_its_verdict_in_words(drawn_report: DrawnReport, matrix: Matrix) -> None:
    page = Page(drawn_report.paths.html.read_text())
    assert len(page.cells) == len(matrix.rows) * len(matrix.targets)
    for verdict, words in page.cells:
        assert verdict.replace("_", " ") in words
    assert "not_run" in {verdict for verdict, _ in page.cells}
    assert all(count == 1 for count in page.ids.values())
    assert all(page.ids[row.id] == 1 for row in matrix.rows)

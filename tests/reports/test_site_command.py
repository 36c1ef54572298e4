"""`kafka-conformance site`: the whole catalogue, changes between runs, findings, exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from harness.base.bundle import suites_root
from harness.cli import main
from harness.codec.apis import APIS
from harness.commands.site_given import run_command
from harness.conformance.catalogue import load_catalogue
from harness.conformance.journal import Journal
from harness.conformance.record import PlannedCase
from harness.conformance.verdict import Verdict
from harness.conformance.where_judged import requirements_with_tests
from tests.conformance.made import check, header, write_run
from tests.conformance.sarif_schema import SARIF_SCHEMA

from .read_site import ReadPage, broken_links

V = Verdict
TARGET = "kafka:4.4.0"


def invoke(*words: str | Path) -> Result:
    ended = CliRunner().invoke(main, ["site", *map(str, words)])
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended


@pytest.fixture(scope="module", name="site")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two runs of one target in two folders, a run that was cut, and a damaged journal."""
    folder = tmp_path_factory.mktemp("site")
    first = header("r1", TARGET)
    checks = [check("PROD-001"), check("PROD-002", V.FAILED), check("PROD-004")]
    write_run(folder / "A", checks, about=first)
    later = replace(first, run="r2", started_at="2026-05-02T10:00:00+00:00")
    checks = [
        check("PROD-001", V.FAILED, reason="lost & <b>"),
        check("PROD-002"),
        check("PROD-004"),
    ]
    checks += [check("PROD-031", V.WARNING, level="SHOULD")]
    write_run(folder / "B", checks, about=later)
    write_run(folder / "B", [check("PROD-001")], about=header("r3", "reference"), footer=False)
    damaged = folder / "B" / "runs" / "r4" / "journal.jsonl"
    damaged.parent.mkdir()
    damaged.write_text("{not json\n")
    out = folder / "site"
    ended = invoke(folder / "A", folder / "B", "--out", out, "--url", "https://x.example")
    assert ended.exit_code == 3, ended.output
    assert "incomplete: r3" in ended.output
    assert f"incomplete: {damaged}" in ended.output
    assert str(out / "index.html") in ended.output
    return out


def test_whole_catalogue_and_all_apis_have_pages_and_no_link_is_broken(site: Path) -> None:
    names = {file.stem for file in (site / "requirements").iterdir()}
    assert names == {*load_catalogue().requirements, "index"}
    assert {file.stem for file in (site / "apis").iterdir()} == {
        *(api.name for api in APIS.values()),
        "index",
    }
    assert broken_links(site) == []


def test_requirement_page_has_what_the_catalogue_and_the_suites_say(site: Path) -> None:
    page, known = ReadPage(site / "requirements/PROD-003.html"), load_catalogue()
    said = known.requirements["PROD-003"]
    for words in (said.statement, said.was[0], said.corrected_by, "3.9.2, 4.3.1, 4.4.0"):
        assert words is not None
        assert words in page.text
    assert "since 0.8" in page.text
    assert known.areas["PROD"].title in page.text
    assert "suites/protocol/" in page.text
    assert "labs/defects/prod.py:" in page.text
    assert "kafka-conformance run --requirement PROD-003 --target reference" in page.text


def test_api_page_has_first_releases_of_the_protocol(site: Path) -> None:
    text = ReadPage(site / "apis/Produce.html").text
    assert "0.8.0 v0 0.9 v1" in text
    assert f"{TARGET} v0–v13" in text
    assert "PROD-011" in text  # by its test alone


def test_changes_between_runs_of_a_target_are_on_its_page_and_in_its_feed(site: Path) -> None:
    text = ReadPage(site / "targets/kafka@4.4.0.html").text
    assert "r1 → r2 regressed: PROD-001 passed → failed lost & <b>" in text
    assert "fixed: PROD-002 failed → passed" in text
    feed = ElementTree.fromstring((site / "feeds/kafka@4.4.0.xml").read_text())
    atom = {"a": "http://www.w3.org/2005/Atom"}
    assert [one.text for one in feed.findall("a:entry/a:title", atom)] == [
        "1 regressed, 1 fixed, 1 newly asked",
        "First run r1",
    ]
    assert feed.findtext("a:updated", namespaces=atom) == "2026-05-01T10:01:00+00:00"
    assert "https://x.example/feeds/kafka@4.4.0.xml" in [
        one.get("href") for one in feed.findall("a:link", atom)
    ]


def test_findings_of_each_target_are_sarif(site: Path) -> None:
    said = json.loads((site / "sarif/kafka@4.4.0.sarif").read_text())
    Draft202012Validator(SARIF_SCHEMA).validate(said)
    (run,) = said["runs"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("PROD-001", "error"),
        ("PROD-031", "warning"),
    ]
    other = json.loads((site / "sarif/reference.sarif").read_text())
    Draft202012Validator(SARIF_SCHEMA).validate(other)
    assert [one["ruleId"] for one in other["runs"][0]["results"]] == ["not-whole"]


def test_target_page_has_the_command_of_its_run(site: Path) -> None:
    words = "--requirement PROD-001 --requirement PROD-002 --requirement PROD-004"
    command = f"kafka-conformance run --target {TARGET} {words} --requirement PROD-031 --seed 7"
    assert command in ReadPage(site / "targets/kafka@4.4.0.html").text


def planned(*names: str, greases: bool = False) -> str | None:
    about = replace(header("r1", "external:h:1,config=my file"), greases=greases)
    run = Journal(header=about, plan=(PlannedCase(case="x", requirements=names),))
    return run_command(run, load_catalogue())


def test_command_names_areas_where_a_run_planned_them_whole() -> None:
    catalogue, tested = load_catalogue(), requirements_with_tests(suites_root())
    whole = [name for name in catalogue.areas["SHUT"].requirements if name in tested]
    start = "kafka-conformance run --target 'external:h:1,config=my file'"
    assert planned(*whole, "PROD-001") == (
        f"{start} --requirement PROD-001 --requirement 'SHUT-*' --seed 7 --out results"
    )
    assert planned(*tested, greases=True) == f"{start} --grease --seed 7 --out results"
    assert planned() is None
    half = [name for name in catalogue.requirements if name in tested][::9]
    assert planned(*half) is None  # a command of so many words helps no reader


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("{not json\n", "left out: "),
        ("", "the folder holds no results"),
    ],
)
def test_unreadable_results_exit_2_and_write_nothing(
    tmp_path: Path, damage: str, said: str
) -> None:
    journal = tmp_path / "R" / "runs" / "run-x" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text(damage)
    ended = invoke(tmp_path / "R", "--out", tmp_path / "site")
    assert (ended.exit_code, said in ended.output) == (2, True), ended.output
    assert "Traceback" not in ended.output
    assert not (tmp_path / "site").exists()


def test_url_of_another_kind_exits_2(tmp_path: Path) -> None:
    (tmp_path / "R").mkdir()
    ended = invoke(tmp_path / "R", "--out", tmp_path / "site", "--url", "x.example")
    assert (ended.exit_code, "begin it with https://" in ended.output) == (2, True)

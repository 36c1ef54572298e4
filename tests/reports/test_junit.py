"""JUnit XML: of the form that its readers share, and nothing in it greener than the verdict."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from reports.as_junit import matrix_junit
from reports.matrix import Matrix

from .made_matrix import HEADLINE, TARGETS, fallen, matrix, passed, row, run, small

FORM = xmlschema.XMLSchema(str(Path(__file__).parent / "junit.xsd"))


def suites(made: Matrix) -> dict[str, TestSuite]:
    text = matrix_junit(made)
    FORM.validate(text)
    return {str(suite.name): suite for suite in JUnitXml.fromstring(text.encode())}


def case(suite: TestSuite, requirement: str) -> TestCase:
    (found,) = [one for one in suite if one.name.startswith(requirement)]
    assert isinstance(found, TestCase)
    return found


def test_junit_has_suite_per_target_and_case_per_requirement() -> None:
    found = suites(small())
    assert list(found) == list(TARGETS)
    assert (found["kafka:4.4.0"].tests, found["stranger"].tests) == (9, 8)
    stranger = found["stranger"]
    assert (stranger.failures, stranger.errors, stranger.skipped) == (1, 2, 1)
    said = {one.name: one.value for one in stranger.properties()}  # type: ignore[no-untyped-call]
    assert (said["run"], said["seed"]) == ("run-stranger", "7")


def test_properties_count_catalogue_and_name_reasons_of_what_was_not_judged() -> None:
    made = replace(small(), headlines={"run-stranger": HEADLINE})
    listed = suites(made)["stranger"].properties()  # type: ignore[no-untyped-call]
    said = {one.name: one.value for one in listed}
    assert (said["judged"], said["must_passed"]) == ("5 of 1053", "3 of 961")
    assert said["not_judged"] == "900 need several nodes: --target reference,nodes=3"


@pytest.mark.parametrize(
    ("requirement", "kind", "told"),
    [
        ("PROD-001", Failure, "error_code is 0, expected 2"),
        ("META-001", Error, "the harness fell"),
        ("META-002", Error, "after META-001"),
        ("CONN-001", Skipped, "not_supported"),
    ],
)
def test_verdict_maps_to_junit_outcome(requirement: str, kind: type, told: str) -> None:
    (result,) = case(suites(small())["stranger"], requirement).result
    assert type(result) is kind
    assert told in result.message
    assert "test_crc[v9]" in result.text


def test_warning_passes_with_text_in_system_out() -> None:
    warned = case(suites(small())["kafka:4.4.0"], "META-003")
    assert warned.result == []
    assert "warning" in (warned.system_out or "")


def test_inconclusive_is_error_only_for_must() -> None:
    open_ = fallen("inconclusive", "it closed")
    made = matrix(
        row(1, "PROD", passed(), passed(), open_),
        row(2, "PROD", passed(), passed(), open_, level="SHOULD"),
    )
    suite = suites(made)["stranger"]
    assert [type(case(suite, f"PROD-00{n}").result[0]) for n in (1, 2)] == [Error, Skipped]


def test_incomplete_run_and_run_without_checks_are_errors() -> None:
    runs = (run("kafka:4.4.0", run_complete=False), run("reference"))
    found = suites(replace(small(), runs=runs, rows=small().rows[:0]))
    assert "proper end" in case(found["kafka:4.4.0"], "the run").result[0].message
    assert "no check" in case(found["stranger"], "the run").result[0].message
    assert found["reference"].tests == 0


def test_control_characters_in_reason_are_escaped() -> None:
    made = matrix(row(1, "PROD", passed(), passed(), fallen(reason='\x00\x1b <&"]]> ü \ud800')))
    (result,) = case(suites(made)["stranger"], "PROD-001").result
    assert '\\x00\\x1b <&"]]> ü \\xd800' in result.message


def test_junit_schema_accepts_output_of_pytest(tmp_path: Path) -> None:
    """Our copy of the common form would be worth little if others' files did not fit it."""
    file = tmp_path / "test_all.py"
    file.write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): assert 0\n"
        "def test_c(): pytest.skip('no')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "--junitxml=out.xml", "-p", "no:cacheprovider"]
    subprocess.run([*command, "test_all.py"], cwd=tmp_path, capture_output=True, check=False)
    FORM.validate(str(tmp_path / "out.xml"))

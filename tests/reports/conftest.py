"""One report over drawn results for all tests that only look at it: Spark starts slowly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import reports.build
from harness.targets.java import spark_java_home
from reports.build import ReportPaths, build_report
from reports.given import Wording
from reports.joined_columns import JudgedAsOne

from .browser import _browser, _pages  # noqa: F401  fixtures
from .made_matrix import HEADLINE, MUTANTS
from .made_results import RUNS, Row, drawn_rows, write_beside, write_results
from .shared_spark import SharedSpark

STATEMENTS = {
    "PROD-004": "acks=all waits <for> \"every\" | in-sync 'replica' \\ & *no* less",
    "CONN-000": "</script><script>alert(1)</script>",
}
WORDING = Wording(
    STATEMENTS,
    {0: "Produce"},
    frozenset({"PROD-004"}),
    headlines={run: HEADLINE for run, *_ in RUNS},
    as_one=[JudgedAsOne("kafka", ("42", "r-b"), HEADLINE)],
    mutants=MUTANTS,
    name_of_unknown_api="unknown {}".format,
)


@dataclass(frozen=True)
class DrawnReport:
    """A report, and the rows and the folder that it was made from."""

    rows: list[Row]
    results: Path
    paths: ReportPaths


@pytest.fixture(scope="session", autouse=True)
def _java() -> None:
    """Let a report find its Java, also the one from PyPI."""
    os.environ["JAVA_HOME"] = str(spark_java_home().home)


@pytest.fixture(scope="package")
def shared_spark() -> Iterator[SharedSpark]:
    """Ends with this package: other tests look for processes that are left behind."""
    shared = SharedSpark()
    yield shared
    shared.end()


@pytest.fixture
def without_spark(shared_spark: SharedSpark) -> None:
    """No session runs: a report starts one of its own."""
    shared_spark.end()


@pytest.fixture(scope="package")
def drawn_report(
    tmp_path_factory: pytest.TempPathFactory, shared_spark: SharedSpark
) -> DrawnReport:
    # The folder's name holds signs that mean something in Spark's globs and in URIs.
    folder = tmp_path_factory.mktemp("drawn") / "a [x] ü*{b}%20"
    rows = drawn_rows()
    write_results(folder, rows)
    write_beside(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reports.build, "spark_session", shared_spark.session)
        paths = build_report([folder], folder / "report", wording=WORDING)
    return DrawnReport(rows, folder, paths)

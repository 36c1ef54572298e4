"""A site of drawn results: right, whole, the same again, and refused where it cannot be made."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import reports.site.build
from reports.errors import ReportError
from reports.matrix import Matrix
from reports.site.addresses import requirement_page, target_page
from reports.site.build import SITE, build_site, write_site
from reports.site.given import SiteGiven
from reports.site.render import SitePages
from reports.verdicts import QUIET

from .conftest import STATEMENTS, WORDING
from .made_matrix import small
from .made_results import drawn_rows, row, write_beside, write_results
from .made_site import GIVEN, REQUIREMENTS
from .read_site import ReadPage, all_bytes, broken_links, read_pages
from .second_opinion import second_opinion
from .test_refusals import column_missing, no_check, no_parquet, other_version, run_without_file

SITE_INPUTS = ("results", "runs", "wire", "faults", "histories", "defects")


@pytest.fixture(scope="module", name="results")
def _results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "a [x] ü*{b}%20"
    write_results(folder, drawn_rows())
    write_beside(folder)
    return folder


@pytest.fixture(scope="module", name="site")
def _site(results: Path) -> Path:
    """The site of the drawn results."""
    paths = build_site([results], results / "site", WORDING, GIVEN)
    assert paths.incomplete == ("1e3", "2026-01-01")
    return paths.index.parent


@pytest.fixture(scope="module", name="small_site")
def _small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a matrix with every kind of cell."""
    folder = tmp_path_factory.mktemp("small")
    write_site(small(), GIVEN, folder)
    return folder


def test_every_link_leads_to_a_file_of_the_site(site: Path, small_site: Path) -> None:
    assert len(read_pages(site)) > 60
    assert broken_links(site) == broken_links(small_site) == []


def test_requirement_page_has_the_verdict_of_each_target(site: Path) -> None:
    expected = second_opinion(site.parent)
    targets = list(expected["newest"])
    for name, said in expected["requirements"].items():
        text = ReadPage(site / requirement_page(name)).text
        for target in targets:
            words = said["verdicts"].get(target, "not_run").replace("_", " ")
            assert re.search(rf"{words} {re.escape(target)}( |$)", text), (name, target)


def test_target_page_counts_areas_and_lists_failures(site: Path) -> None:
    expected = second_opinion(site.parent)
    for target in expected["newest"]:
        page = ReadPage(site / target_page(target))
        areas = page.text.partition(" Areas ")[2].partition(" Not judged ")[0]
        for (area, at, level, verdict), count in expected["counts"].items():
            if (at, level) == (target, None):
                own = re.search(rf"(^| ){area} (.*?)( [A-Z]{{3,}} |$)", areas)
                assert own is not None
                assert f"{count} {verdict.replace('_', ' ')}" in own[2]
        failures = page.text.partition(" Failures ")[2].partition(" Areas ")[0]
        loud = [
            name
            for name, said in expected["requirements"].items()
            if said["verdicts"].get(target, "passed") not in QUIET
        ]
        assert loud
        assert sorted(re.findall(r"\b[A-Z]+-\d{3}\b", failures)) == sorted(loud)


def test_incomplete_runs_stand_on_the_first_page_and_on_their_targets(site: Path) -> None:
    index, reference = ReadPage(site / "index.html"), ReadPage(site / target_page("reference"))
    assert "Run 2026-01-01 of reference is incomplete" in index.text
    assert "Run 2026-01-01 of reference is incomplete" in reference.text
    other = ReadPage(site / target_page("kafka:3.9.2"))
    assert "is incomplete" not in other.text


def test_words_of_results_are_text_on_every_page(site: Path, small_site: Path) -> None:
    pages = {**read_pages(site), **{f"small/{at}": it for at, it in read_pages(small_site).items()}}
    scripts = {at: page.tags.count("script") for at, page in pages.items() if "script" in page.tags}
    assert scripts == {"index.html": 2, "small/index.html": 2}  # the data and our own
    assert sum("seen 1 <b>" in page.text for page in pages.values()) > 10
    page = ReadPage(site / requirement_page("CONN-000"))
    assert STATEMENTS["CONN-000"] in page.text
    assert "A wrong <b>CRC</b> is refused" in pages["small/requirements/PROD-001.html"].text


def test_requirement_page_has_dates_sources_tests_defects_and_command(small_site: Path) -> None:
    page = ReadPage(small_site / requirement_page("PROD-001"))
    for words in (
        *("since 0.8", "until 3.x", "needs one broker", "test_crc", "at Produce 3+"),
        *("The broker takes a wrong CRC.", "labs/defects/prod.py:3"),
        "noticed on reference: a bad crc is taken",
        "not noticed on kafka:4.4.0",
        "kafka-conformance run --requirement PROD-001 --target kafka:4.4.0 --out results",
        "error_code is 0, expected 2",
        "pytest 'suites/protocol/test_prod.py::test_crc[v9]' --target stranger --seed 7",
    ):
        assert words in page.text, words
    assert "../evidence/run-stranger/crc.txt" in page.links
    assert "https://issues" not in " ".join(page.links)
    assert any("KIP-98" in link for link in page.links)


def test_requirement_without_checks_or_tests_has_its_page(small_site: Path) -> None:
    text = ReadPage(small_site / requirement_page("LEG-001")).text
    assert text.count("not run") == 3
    assert "No test judges it." in text
    assert "kafka-conformance run" not in text
    assert "it is about documents" in text


def test_api_page_has_versions_by_release_and_target_and_requirements(small_site: Path) -> None:
    page = ReadPage(small_site / "apis" / "Produce.html")
    assert "0.8.0 v0 0.9 v1–v2 0.11 v3" in page.text
    assert "reference v8–v9 stranger v8–v9 v9 ✗ failed PROD-001" in page.text
    assert "kafka:4.4.0 not offered" in page.text
    assert "PROD-001 A wrong <b>CRC</b> is refused PROD-002 Statement 2" in page.text
    unknown = ReadPage(small_site / "apis" / "3.html")
    assert "Metadata" in unknown.text
    assert "No release of Apache Kafka has it." in unknown.text
    assert "v0 (observed: it advertises nothing)" in unknown.text


def test_target_page_has_command_changes_and_files_for_programs(small_site: Path) -> None:
    page = ReadPage(small_site / target_page("stranger"))
    assert "kafka-conformance run --target stranger --seed 7 --out results" in page.text
    assert "run-1 → run-stranger run-1 is cut regressed: PROD-001 passed → failed" in page.text
    assert "newly asked: META-001 not there → harness error" in page.text
    assert "run-0 → run-1 The same verdicts." in page.text
    assert {"../badges/stranger.svg", "../feeds/stranger.xml", "../sarif/stranger.sarif"} <= set(
        page.links
    )
    other = ReadPage(small_site / target_page("reference"))
    assert "There is no earlier run" in other.text
    assert not any("feeds" in link or "sarif" in link for link in other.links)


def test_same_results_give_the_same_bytes(results: Path, site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    for name in SITE_INPUTS:
        shutil.copytree(results / name, copy / name)
    again = build_site([copy], tmp_path / "site", WORDING, GIVEN).index.parent
    assert all_bytes(again) == all_bytes(site)
    assert {entry.name for entry in again.iterdir()} <= SITE.files


def test_new_site_replaces_an_earlier_one_whole(tmp_path: Path) -> None:
    out = tmp_path / "site"
    build_site([write_results(tmp_path / "A", [row(target="kafka:4.4.0")])], out, WORDING, GIVEN)
    build_site([write_results(tmp_path / "B", [row()])], out, WORDING, GIVEN)
    assert [file.name for file in (out / "targets").iterdir()] == ["reference.html"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["A", "B", "site"]


def test_failure_leaves_the_earlier_site_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = write_results(tmp_path / "R", [row()]), tmp_path / "site"
    build_site([folder], out, WORDING, GIVEN)
    before = all_bytes(out)

    def full(pages: SitePages, matrix: Matrix) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(reports.site.build, "write_badges", full)
    with pytest.raises(OSError, match="No space left"):
        build_site([folder], out, WORDING, SiteGiven())
    assert all_bytes(out) == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["R", "site"]


@pytest.mark.parametrize("name", ["thesis.txt", "targets"])
def test_folder_that_is_no_site_is_refused_and_kept(tmp_path: Path, name: str) -> None:
    """Also one with a name that a site has: only `site.json` shows that a folder is one."""
    folder, out = write_results(tmp_path / "R", [row()]), tmp_path / "site"
    (out / name).mkdir(parents=True)
    (out / name / "mine").write_text("mine")
    with pytest.raises(ReportError, match="something that is no site") as error:
        build_site([folder], out, WORDING, GIVEN)
    assert (name in error.value.what, error.value.where) == (True, str(out))
    assert "folder of its own" in error.value.what_to_do
    assert (out / name / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (run_without_file, "the run's folder holds no Parquet file"),
        (no_parquet, "not a readable Parquet file"),
        (other_version, "schema version 99"),
        (column_missing, "column 'verdict' is missing"),
        (no_check, "the results hold no check at all"),
    ],
)
def test_damaged_results_raise_report_error_and_write_nothing(
    tmp_path: Path, damage: Callable[[Path], None], what: str
) -> None:
    folder = tmp_path / "R"
    folder.mkdir()
    damage(folder)
    with pytest.raises(ReportError) as error:
        build_site([folder], tmp_path / "site", WORDING, GIVEN)
    assert what in error.value.what
    assert str(folder) in error.value.where
    assert error.value.what_to_do
    assert [entry.name for entry in tmp_path.iterdir()] == ["R"]


def test_list_of_requirements_has_each_once_by_area(small_site: Path) -> None:
    page = ReadPage(small_site / "requirements" / "index.html")
    found = [link for link in page.links if "/requirements/" in link and "index" not in link]
    names = [link.rpartition("/")[2].removesuffix(".html") for link in found]
    rows = {one.id for one in small().rows} | {one.id for one in REQUIREMENTS}
    assert sorted(names) == sorted(rows)
    assert {"PROD", "LEG", "META", "CONN"} <= set(page.ids)
    assert "PROD-001 MUST A wrong <b>CRC</b> is refused ✓ 2 passed ✗ 1 failed" in page.text

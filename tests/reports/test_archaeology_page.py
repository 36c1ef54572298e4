"""The page of many releases in a browser: cells, filter, keys, panel, address, hostile text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page, expect

from reports.archaeology.as_html import archaeology_html
from reports.archaeology.given import KnownBug
from reports.archaeology.history import Archaeology

from .browser import OpenPages
from .made_history import RELEASES, history_of, promise

pytestmark = pytest.mark.rotates(8)  # each works with a browser

SEEN = {
    "PROD-001": "NNPPPP",
    "PROD-002": "NPPPPP",
    "PROD-003": "NNPFPP",
    "PROD-004": "NNNPPP",
    "FETCH-001": "PPPPPP",
}
BUG = KnownBug("forgets </script><script>alert(1)</script>", "https://example.org/KAFKA-1")


def dug(**values: object) -> Archaeology:
    promises = {name: promise() for name in SEEN}
    promises["PROD-004"] = promise(note="2.4 / v5")
    promises["FETCH-001"] = replace(promise(since="-", level="SHOULD"), area="FETCH")
    bugs = {"kafka:2.5.1": {"PROD-003": BUG}}
    return history_of(SEEN, promises, bugs=bugs, **values)  # type: ignore[arg-type]


@pytest.fixture(name="file")
def _file(pages: OpenPages) -> Path:
    file = pages.folder / "index.html"
    file.write_text(archaeology_html(dug()), "utf-8")
    return file


def ids(page: Page) -> list[str]:
    return page.locator("#grid .history .id").all_inner_texts()


def cell(page: Page, requirement: str, release: str) -> Locator:
    line = page.locator("#grid .history", has=page.get_by_text(requirement, exact=True))
    return line.locator("> *").nth(1 + RELEASES.index(release))


def test_page_has_row_per_requirement_and_column_per_release(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    assert ids(page) == list(SEEN)
    heads = page.get_by_role("columnheader").all_inner_texts()
    assert heads == ["Requirement", *RELEASES]
    expect(page.locator("#shown")).to_have_text("5 of 5 requirements")
    said = [cell(page, "PROD-003", release).get_attribute("aria-label") for release in RELEASES]
    assert said == [
        "2.2.2: not there, agrees",
        "2.3.1: not there, agrees",
        "2.4.1: holds, agrees, promised otherwise than before",
        "2.5.1: broken, known bug",
        "3.9.2: holds, agrees",
        "4.0.2: holds, agrees",
    ]
    assert cell(page, "PROD-003", "2.5.1").inner_text() == "✗"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("agreement=contradicts", ["PROD-002"]),
        ("agreement=noted,known_bug", ["PROD-003", "PROD-004"]),
        ("level=SHOULD", ["FETCH-001"]),
        ("area=PROD&changed=1", ["PROD-001", "PROD-002", "PROD-003", "PROD-004"]),
        ("at=2.5.1", ["PROD-003", "PROD-004"]),
        ("q=why f", ["PROD-003"]),
        ("q=nothing", []),
    ],
)
def test_filter_in_address_selects_requirements(
    pages: OpenPages, file: Path, address: str, found: list[str]
) -> None:
    page = pages.open(file, address)
    assert (ids(page) if found else []) == found
    expect(page.locator("#shown")).to_have_text(f"{len(found)} of 5 requirements")
    expect(page.locator("#none")).to_be_visible(visible=not found)


def test_manual_filter_updates_address_and_resets(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    page.get_by_role("checkbox", name="contradicts").check()
    page.get_by_label("changed in").select_option("2.3.1")
    assert ids(page) == ["PROD-002"]
    assert "agreement=contradicts" in page.url
    assert "at=2.3.1" in page.url
    page.get_by_role("button", name="Reset").click()
    assert len(ids(page)) == 5


def test_keyboard_finds_opens_and_closes_panel(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("prod-00")
    page.locator("#grid [tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(cell(page, "PROD-002", "2.2.2")).to_be_focused()
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Details")
    expect(panel).to_be_focused()
    expect(panel.locator("h2")).to_contain_text("PROD-002")
    expect(panel).to_contain_text("It holds outside of its dates: 2.3.1")
    expect(panel).to_contain_text("2.2.2 → 2.3.1 not there → holds")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(cell(page, "PROD-002", "2.2.2")).to_be_focused()


def test_panel_shows_bug_dates_and_reasons_as_text(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "PROD-003")
    panel = page.locator("#panel")
    expect(panel).to_contain_text("The broker keeps <it>.")
    expect(panel).to_contain_text("By the catalogue: since 2.4")
    expect(panel).to_contain_text("forgets </script><script>alert(1)</script>")
    expect(panel.get_by_role("link")).to_have_attribute("href", BUG.link)
    expect(panel).to_contain_text("2.5.1 failed")
    expect(panel).to_contain_text("why F <b>")
    ranges = panel.locator(".ranges")
    expect(ranges).to_contain_text("2.4.1 3.9.2..4.0.2")
    page.go_back()


def test_page_alerts_about_incomplete_run(pages: OpenPages) -> None:
    file = pages.folder / "index.html"
    file.write_text(archaeology_html(dug(incomplete="kafka:2.5.1")), "utf-8")
    page = pages.open(file)
    expect(page.get_by_role("alert")).to_contain_text("run r-2.5.1 of kafka:2.5.1 did not come")
    assert "2.5.1 !" in page.get_by_role("columnheader").all_inner_texts()
    assert page.title().endswith("(INCOMPLETE)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_has_no_accessibility_violations(pages: OpenPages, file: Path, scheme: str) -> None:
    page = pages.open(file, "open=PROD-003", color_scheme=scheme)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_large_page_stays_below_size_and_element_limits(pages: OpenPages) -> None:
    targets = tuple(f"kafka:{major}.{minor}.0" for major in range(1, 5) for minor in range(10))
    seen = {f"PROD-{number:03}": "N" * 20 + "P" * 20 for number in range(1000)}
    promises = dict.fromkeys(seen, promise(since="3.0"))
    file = pages.folder / "index.html"
    file.write_text(archaeology_html(history_of(seen, promises, targets=targets)), "utf-8")
    assert file.stat().st_size < 1_000_000
    page = pages.open(file)
    assert page.evaluate("document.getElementsByTagName('*').length") < 6_000
    page.locator("#q").fill("prod-999")
    assert ids(page) == ["PROD-999"]

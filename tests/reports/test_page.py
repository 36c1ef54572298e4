"""The page in a real browser: filter, groups, evidence, address, keys, size, what a reader sees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page, expect

from .browser import OpenPages
from .made_matrix import EVIDENCE, TARGETS, large, matrix, passed, row, run, small

pytestmark = pytest.mark.rotates(8)  # each works with a browser

VIEWS = ("requirements", "areas", "apis", "defects", "mutants", "wire", "about")
NODE = "document.getElementsByTagName('*').length"


@pytest.fixture(name="file")
def _file(pages: OpenPages) -> Path:
    return pages.file(small())


def rows(page: Page) -> list[str]:
    """Ids of the requirements that are drawn, from top to bottom."""
    return page.locator("#grid .requirement .id").all_inner_texts()


def cell(page: Page, requirement: str, target: str) -> Locator:
    line = page.locator("#grid .requirement", has=page.get_by_text(requirement, exact=True))
    return line.locator("> *").nth(1 + TARGETS.index(target))


def test_requirements_that_pass_everywhere_are_folded_and_open_on_click(
    pages: OpenPages, file: Path
) -> None:
    page = pages.open(file)
    assert rows(page) == ["CONN-001", "META-001", "META-002", "META-003", "PROD-001", "PROD-004"]
    fold = page.get_by_text("2 requirements pass everywhere")
    expect(fold).to_have_attribute("aria-expanded", "false")
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    assert rows(page)[-2:] == ["PROD-002", "PROD-003"]
    page.get_by_label("fold what passes everywhere").uncheck()
    assert len(rows(page)) == 9


def test_area_groups_close_open_and_can_be_disabled(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    page.locator("#grid .area", has_text="META").click()
    assert "META-001" not in rows(page)
    page.locator("#grid .area", has_text="META").click()
    assert "META-001" in rows(page)
    page.get_by_label("group by area").uncheck()
    assert page.locator("#grid .area").count() == 0
    assert rows(page)[0] == "CONN-001"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("q=META-00&verdict=inconclusive", ["META-002"]),
        ("q=error_code is 0", ["PROD-001"]),
        ("q=test_crc&level=SHOULD", ["META-003"]),
        ("verdict=failed,warning", ["META-003", "PROD-001"]),
        ("verdict=warning&target=stranger", []),
        ("verdict=passed&area=PROD&target=stranger", ["PROD-002", "PROD-003"]),
        ("verdict=not_run", ["PROD-004"]),
        ("differ=1&area=CONN", ["CONN-001"]),
    ],
)
def test_filter_in_address_selects_requirements(
    pages: OpenPages, file: Path, address: str, found: list[str]
) -> None:
    page = pages.open(file, address)
    assert rows(page) == found
    expect(page.locator("#shown")).to_have_text(f"{len(found)} of 9 requirements")
    expect(page.locator("#none")).to_be_visible(visible=not found)


def test_manual_filter_updates_address(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    page.get_by_role("searchbox").fill("meta-00")
    page.locator("#verdicts").get_by_label("warning").check()
    page.locator("#level").select_option("SHOULD")
    assert rows(page) == ["META-003"]
    again = pages.open(file, page.url.partition("#")[2])
    assert rows(again) == ["META-003"]
    expect(again.get_by_role("searchbox")).to_have_value("meta-00")
    page.get_by_role("button", name="Reset").click()
    assert len(rows(page)) == 6
    assert page.url.partition("#")[2] == ""


def test_cell_opens_panel_with_evidence_and_repeat_command(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    cell(page, "PROD-001", "stranger").click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", level=2)).to_contain_text("PROD-001")
    expect(panel).to_contain_text("error_code is 0, expected 2")
    expect(panel).to_contain_text("< ProduceResponse v9 error_code=0")
    expect(panel).to_contain_text("the trace <b>of it</b>")
    command = "pytest 'suites/protocol/test_prod.py::test_crc[v9]' --target stranger --seed 7"
    expect(panel.locator(".command code").first).to_have_text(command)
    assert command in EVIDENCE  # the page says it in the same words as the run
    link = panel.get_by_role("link", name="as a file")
    expect(link).to_have_attribute("href", "evidence/run-stranger/crc.txt")


def test_panel_shows_timeline_of_faults(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "at=PROD-001@stranger")
    faults = page.locator("#panel .faults").first
    expect(faults.locator("summary")).to_have_text("Faults on the way: 205 events")
    drawing = faults.get_by_role("img")
    expect(drawing).to_have_accessible_name(
        "2 events in 812.3 ms, 1 of them a fault; the table has each"
    )
    lanes = drawing.locator("text").all_text_contents()
    assert lanes == ["rules", "client->broker", "0 ms", "812.3 ms"]
    assert drawing.locator("circle.fired").count() == 1
    lines = faults.locator("tbody tr")
    assert lines.nth(1).locator("td").all_inner_texts() == [
        "812.3",
        "fired",
        "client->broker, connection 1, request 0",
        "drop <b>it</b>\naction: drop, version: 9",
    ]
    expect(faults).to_contain_text("The first 2 of 205 events.")


def test_panel_shows_client_history_in_lanes(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "at=PROD-001@stranger")
    history = page.locator("#panel .faults").nth(1)
    expect(history.locator("summary")).to_have_text("History: 3 records sent")
    words = (
        "3 records sent: 1 acknowledged, 1 surely not written, 1 unknown; 1 in the log at the end."
    )
    expect(history).to_contain_text(words)
    drawing = history.get_by_role("img")
    expect(drawing).to_have_accessible_name(
        "3 records sent and 1 fault in 8 ms; the table has what stands out"
    )
    lanes = drawing.locator("text").all_text_contents()
    assert lanes == ["faults", "producer, partition 0", "1", "0 ms", "8 ms"]
    marks = drawing.locator("rect.span")
    assert [marks.nth(n).get_attribute("class") for n in range(3)] == [
        "span ok",
        "span fail",
        "span invoke",
    ]
    assert drawing.locator("rect title").nth(0).text_content() == (
        "1 ms to 4 ms: send 1 acknowledged at offset 0"
    )
    lines = history.locator("tbody tr")
    assert [lines.nth(n).locator("td").all_inner_texts() for n in range(3)] == [
        ["4", "producer, partition 0", "send 2: surely not written\nNOT_ENOUGH_REPLICAS"],
        ["6", "fault 1", "kill <b>2</b>"],
        ["8", "producer, partition 0", "send 3: never answered"],
    ]


def test_timelines_of_folded_parts_open_separately(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "at=PROD-001@reference")
    outer = page.locator("#panel .faults").first
    outer.get_by_text("Faults on the way: 3 events").click()
    inner = outer.locator(".faults")
    assert inner.locator("summary").all_inner_texts() == [f"[v{v}]: 1 event" for v in range(3)]
    assert outer.get_by_role("img").count() == 0
    inner.nth(1).locator("summary").click()
    expect(outer.get_by_role("img")).to_have_count(1)
    expect(outer.locator("tbody")).to_contain_text("armed")
    other = pages.open(file, "at=PROD-001@kafka:4.4.0")
    expect(other.locator("#panel")).to_contain_text("passed")
    expect(other.locator("#panel .faults")).to_have_count(0)


def test_open_cell_is_in_address_and_back_closes_it(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    cell(page, "PROD-001", "stranger").click()
    again = pages.open(file, page.url.partition("#")[2])
    expect(again.locator("#panel")).to_contain_text("error_code is 0")
    expect(again.locator(".marked")).to_have_text("✗ failedv9")
    page.go_back()
    expect(page.locator("#panel")).to_be_hidden()


def test_requirement_id_in_address_opens_its_panel(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "PROD-003")
    expect(page.locator("#panel")).to_contain_text("PROD-003")
    assert "PROD-003" in rows(page)


def test_panel_reports_missing_evidence(pages: OpenPages) -> None:
    page = pages.open(pages.file(replace(small(), evidence={})))
    cell(page, "PROD-001", "stranger").click()
    expect(page.locator("#panel")).to_contain_text("no longer lay beside the results")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText || document.activeElement.id"))


def test_keyboard_reaches_search_grid_and_panel(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    page.keyboard.press("/")
    assert focused(page) == "find"
    page.keyboard.type("crc")
    page.locator("button[type=reset]").focus()
    page.keyboard.press("Tab")  # the whole grid is one stop
    assert page.evaluate("document.activeElement.closest('#grid') !== null")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.column") == "2"
    page.keyboard.press("Control+End")
    assert "failed" in focused(page)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_visible()
    assert page.evaluate("document.activeElement.id") == "panel"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Close details"
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert "failed" in focused(page)


def test_enter_closes_group_and_keeps_focus(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    assert focused(page).replace("\n", " ").strip().startswith("▾ CONN")
    page.keyboard.press("Enter")
    assert "CONN-001" not in rows(page)
    assert "CONN" in focused(page)


def test_arrow_keys_switch_tabs(pages: OpenPages, file: Path) -> None:
    page = pages.open(file)
    page.get_by_role("tab", name="Requirements").focus()
    for view in VIEWS[1:]:
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == f"tab-{view}"
        assert f"view={view}" in page.url
    page.keyboard.press("Home")
    expect(page.get_by_role("tab", name="Requirements")).to_have_attribute("aria-selected", "true")


def test_apis_view_shows_declared_decodable_and_behaving_versions(
    pages: OpenPages, file: Path
) -> None:
    page = pages.open(file, "view=apis")
    said = page.locator("#grid .api").first.locator("> *").nth(3)
    expect(said).to_have_attribute(
        "aria-label",
        "Produce on stranger: declared v8–v9; answers decodable v8–v9; behaves v8; not passed v9",
    )
    said.click()
    line = page.locator("#panel tr", has_text="v9")
    assert line.locator("td").all_inner_texts() == ["declared", "✓ passed", "✗ failed", "PROD-001"]
    line.get_by_role("link", name="PROD-001").click()
    expect(page.locator("#panel")).to_contain_text("error_code is 0, expected 2")


def test_apis_view_shows_observed_versions_without_advertisement(
    pages: OpenPages, file: Path
) -> None:
    page = pages.open(file, "view=apis")
    said = page.get_by_label("Metadata on kafka:4.4.0: observed v0; answers decodable v0")
    said.click()
    line = page.locator("#panel tr", has_text="v0")
    assert line.locator("td").all_inner_texts()[:2] == ["observed", "✓ passed"]


def test_wire_view_shows_coverage_of_recorded_targets(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "view=wire")
    expect(page.locator("#note")).to_contain_text("recorded for kafka:4.4.0, stranger")
    line = page.locator("#grid .wire")
    said = line.locator("> *").all_inner_texts()
    assert said[0].split() == ["Produce", "v9"]
    assert said[1:2] + said[3:] == ["43 / 43", "1 / 0", "–", "1 / 0", "0 / 1", "0 / 1"]
    assert line.locator(".code").all_inner_texts() == ["0", "2"]
    line.locator("> *").first.click()
    expect(page.locator("#panel")).to_contain_text("2 CORRUPT_MESSAGE")


def test_defects_view_shows_changed_verdicts(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "view=defects")
    expect(page.locator("#shown")).to_have_text("1 of 9 requirements with a defect")
    said = page.locator("#grid .requirement").first.locator("> *").all_inner_texts()
    assert said[1:] == ["bad crc", "✗ 0 of 1 noticed\nalso META-001", "✓ 1 of 1 noticed"]
    page.locator("#grid .requirement").first.click()
    expect(page.locator("#panel")).to_contain_text("META-001: passed → no verdict")


def test_views_report_missing_coverage_and_defects(pages: OpenPages) -> None:
    file = pages.file(replace(small(), wire=(), defects=(), mutants=()))
    page = pages.open(file, "view=wire")
    expect(page.locator("#note")).to_contain_text("No coverage of the wire was recorded")
    page.get_by_role("tab", name="Defects").click()
    expect(page.locator("#note")).to_contain_text("No defect table lies beside these results")
    page.get_by_role("tab", name="Mutants").click()
    expect(page.locator("#note")).to_contain_text("No score is published")


def test_areas_view_counts_musts_and_links_to_requirements(pages: OpenPages, file: Path) -> None:
    page = pages.open(file, "view=areas")
    line = page.locator("#grid .totals", has_text="PROD")
    expect(line.locator("> *").nth(3)).to_contain_text("2/3 MUST 1 failed")
    line.locator("> *").nth(3).click()
    assert rows(page) == ["PROD-001", "PROD-004"]
    expect(page.locator("#target")).to_have_value("stranger")


def test_ten_thousand_rows_need_as_few_elements_as_hundred(pages: OpenPages) -> None:
    few = pages.open(pages.file(large(100))).evaluate(NODE)
    page = pages.open(pages.file(large(10_000)), "fold=0")
    many = page.evaluate(NODE)
    assert many < 1.5 * few
    page.locator("#grid [tabindex='0']").focus()
    page.keyboard.press("Control+End")
    assert rows(page)[-1] == "AREA39-9999"
    assert page.evaluate(NODE) < 1.5 * few
    page.get_by_role("searchbox").fill("AREA07-007")
    expect(page.locator("#shown")).to_have_text("1 of 10,000 requirements")
    assert rows(page) == ["AREA07-007"]


def test_thirty_target_columns_align_with_headers(pages: OpenPages) -> None:
    targets = tuple(f"kafka:{n}.0.0" for n in range(30))
    cells = {target: passed() for target in targets}
    wide = replace(row(1, "PROD", None, None, None), cells=cells)
    page = pages.open(pages.file(matrix(wide, targets=targets)), "fold=0")
    left = "cells => cells.map(cell => Math.round(cell.getBoundingClientRect().left))"
    head = page.locator("#grid [role=columnheader]").evaluate_all(left)
    assert head == page.locator("#grid .requirement > *").evaluate_all(left)
    assert len(head) == 31
    page.locator("#grid [tabindex='0']").focus()
    page.keyboard.press("Control+End")
    last = page.evaluate("document.activeElement.getBoundingClientRect().right")
    assert last <= 1280


def test_hostile_statement_is_shown_as_text(pages: OpenPages) -> None:
    bad = "</script><script>window.taken=1</script><img src=x onerror='window.taken=1'>"
    rows_ = tuple(replace(one, statement=bad) for one in small().rows)
    page = pages.open(pages.file(replace(small(), rows=rows_)), "at=PROD-001@stranger")
    expect(page.locator("#panel")).to_contain_text(bad)
    assert page.evaluate("window.taken === undefined")


def test_page_alerts_about_incomplete_run(pages: OpenPages) -> None:
    runs = tuple(run(target, run_complete=target != "stranger") for target in TARGETS)
    page = pages.open(pages.file(replace(small(), runs=runs)))
    expect(page.get_by_role("alert")).to_contain_text("Run run-stranger of stranger is incomplete")
    expect(page).to_have_title("Kafka compatibility matrix (INCOMPLETE)")


def test_page_without_scripts_refers_to_markdown_file(pages: OpenPages, file: Path) -> None:
    page = pages.browser.new_page(java_script_enabled=False)
    page.goto(file.as_uri())
    expect(page.get_by_text("matrix.md")).to_be_visible()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("view", "scheme"), [*((view, "light") for view in VIEWS), ("requirements", "dark")]
)
def test_page_has_no_accessibility_violations(
    pages: OpenPages, file: Path, view: str, scheme: str
) -> None:
    """axe-core: contrast, names, roles, focus order; the colours in both schemes."""
    page = pages.open(file, f"view={view}&at=PROD-001@stranger", color_scheme=scheme)
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (colour == "rgb(19, 22, 26)") is (scheme == "dark")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_panel_shows_observed_releases_of_requirement(
    pages: OpenPages,
) -> None:
    told = replace(small(), observed={"PROD-001": "passed 0.8.0..4.4.0", "NONE-001": "passed 1.0"})
    page = pages.open(pages.file(told), "PROD-001")
    expect(page.locator("#panel")).to_contain_text("Apache Kafka, as observed: passed 0.8.0..4.4.0")
    other = pages.open(pages.file(told), "PROD-004")
    expect(other.locator("#panel")).to_contain_text("PROD-004")
    expect(other.locator("#panel")).not_to_contain_text("as observed")

"""Many targets, and a narrow screen: a small square a cell, upright names, one line a target."""

from __future__ import annotations

from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, ViewportSize, expect

from reports.matrix import Matrix

from .browser import OpenPages
from .made_matrix import fallen, matrix, passed, row, small

pytestmark = pytest.mark.rotates(4)  # each works with a browser
MANY = tuple(f"kafka:{n // 10}.{n % 10}.0,mode=zk" for n in range(50))
PHONE: ViewportSize = {"width": 390, "height": 844}
OVERFLOW = "grid => grid.scrollWidth - grid.clientWidth"


def many(targets: tuple[str, ...] = MANY) -> Matrix:
    bad = dict.fromkeys(targets, passed()) | {targets[-1]: fallen()}
    return matrix(replace(row(1, "PROD", None, None, None), cells=bad), targets=targets)


def overflow_px(page: Page) -> int:
    found: int = page.locator("#grid").evaluate(OVERFLOW)
    return found


def test_fifty_targets_fit_on_one_screen_as_squares(pages: OpenPages) -> None:
    page = pages.open(pages.file(many()))
    assert overflow_px(page) <= 0
    line = page.locator("#grid .requirement")
    expect(line.locator(".square")).to_have_count(50)
    last = line.locator("> *").last
    expect(last).to_have_accessible_name(f"{MANY[-1]}: failed")
    expect(last.locator(".square")).to_have_text("✗")
    head = page.locator("#grid [role=columnheader] span").last
    expect(head).to_have_attribute("title", MANY[-1])
    heights = page.locator(".targets.lines li").evaluate_all("all => all.map(e => e.clientHeight)")
    assert len(heights) == 50
    assert max(heights) < 40  # one line of text
    last.click()
    expect(page.locator("#panel")).to_contain_text("error_code is 0, expected 2")


def test_eight_targets_have_words_and_nine_have_squares(pages: OpenPages) -> None:
    page = pages.open(pages.file(many(MANY[:8])))
    expect(page.locator("#grid .requirement .badge")).to_have_count(8)
    expect(page.locator(".targets.lines")).to_have_count(0)
    page = pages.open(pages.file(many(MANY[:9])))
    expect(page.locator("#grid .requirement .square")).to_have_count(9)
    expect(page.locator("#grid .requirement .badge")).to_have_count(0)


@pytest.mark.parametrize("view", ["requirements", "areas"])
def test_phone_shows_verdicts_without_sideways_scrolling(pages: OpenPages, view: str) -> None:
    page = pages.open(pages.file(small()), f"view={view}&fold=0")
    expect(page.locator("#grid .square")).to_have_count(0)
    page.set_viewport_size(PHONE)
    expect(page.locator("#grid.compact")).to_be_visible()
    assert overflow_px(page) <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    cells = page.locator("#grid [data-column='3']")
    rights = cells.evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")
    assert rights
    assert max(rights) <= PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_squares_have_no_accessibility_violations(pages: OpenPages, scheme: str) -> None:
    page = pages.open(pages.file(small()), "fold=0", color_scheme=scheme)
    page.set_viewport_size(PHONE)
    expect(page.locator("#grid.compact")).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()

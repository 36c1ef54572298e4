"""The site in a real browser: search, keys, a phone, what a reader with other means meets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, ViewportSize, expect

from reports.site.build import write_site

from .browser import OpenPages
from .made_matrix import small
from .made_site import GIVEN

pytestmark = pytest.mark.rotates(4)  # each works with a browser
PHONE: ViewportSize = {"width": 390, "height": 844}
PAGES = (
    "index.html",
    "targets/stranger.html",
    "requirements/PROD-001.html",
    "requirements/index.html",
    "apis/Produce.html",
    "apis/index.html",
)


class OpenSite(OpenPages):
    """Pages of one site, which may ask for its files alone."""

    def close(self) -> None:
        for context in self.browser.contexts:
            context.close()
        site = self.folder.as_uri()
        assert [url for url in self.requests if not url.startswith((site, "data:,"))] == []
        assert self.problems == []


@pytest.fixture(name="site")
def _site(browser: Browser, tmp_path: Path) -> Iterator[OpenSite]:
    write_site(small(), GIVEN, tmp_path)
    site = OpenSite(browser, tmp_path)
    yield site
    site.close()


def found(page: Page) -> list[str]:
    return page.locator("#found a").all_inner_texts()


def test_search_finds_requirements_apis_and_targets(site: OpenSite) -> None:
    page = site.open(site.folder / "index.html")
    search = page.get_by_role("searchbox")
    search.fill("crc refused")
    assert found(page) == ["PROD-001"]
    search.fill("stranger")
    assert found(page) == ["stranger"]
    search.fill("prod")
    assert found(page) == ["PROD-001", "PROD-002", "PROD-003", "PROD-004", "Produce"]
    expect(page.get_by_role("status")).to_have_text("5 found")
    search.fill("nothing like this")
    expect(page.get_by_role("status")).to_have_text("0 found")
    search.fill("produce")
    assert found(page)[0] == "Produce"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Produce")


def test_search_stands_in_the_address(site: OpenSite) -> None:
    page = site.open(site.folder / "index.html")
    page.get_by_role("searchbox").fill("PROD 2")
    expect(page).to_have_url(re.compile("#q=PROD%202$"))
    again = site.open(site.folder / "index.html", page.url.partition("#")[2])
    expect(again.get_by_role("searchbox")).to_have_value("PROD 2")
    assert found(again) == found(page) == ["PROD-002"]


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText || document.activeElement.id"))


def test_keys_lead_from_search_to_a_page_and_through_it(site: OpenSite) -> None:
    page = site.open(site.folder / "index.html")
    page.keyboard.press("/")
    assert focused(page) == "find"
    page.keyboard.type("prod-00")
    for key, wanted in (
        *(("ArrowDown", "PROD-001"), ("ArrowDown", "PROD-002"), ("ArrowUp", "PROD-001")),
        ("ArrowUp", "find"),
    ):
        page.keyboard.press(key)
        assert focused(page) == wanted
    page.keyboard.press("Escape")
    assert found(page) == []
    page.keyboard.type("prod-001")
    page.keyboard.press("ArrowDown")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("PROD-001")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_pages_without_script_have_all_links_and_no_search(site: OpenSite) -> None:
    page = site.open(site.folder / "index.html", java_script_enabled=False)
    expect(page.locator("#search")).to_be_hidden()
    page.get_by_role("link", name=re.compile(r"^\d+ requirements")).click()
    page.get_by_role("link", name="PROD-001").click()
    page.get_by_role("link", name="stranger").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("stranger")
    page.get_by_role("link", name="META-001").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("META-001")


@pytest.mark.parametrize("address", PAGES)
def test_phone_shows_page_without_sideways_scrolling(site: OpenSite, address: str) -> None:
    page = site.open(site.folder / address)
    page.set_viewport_size(PHONE)
    width = page.evaluate("document.documentElement.scrollWidth")
    rights = page.locator("body *").evaluate_all(
        "all => all.filter(e => !e.matches('.skip, .skip *') && e.checkVisibility())"
        ".map(e => e.getBoundingClientRect().right)"
    )
    assert max(width, *rights) <= PHONE["width"]


@pytest.mark.sample(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", PAGES)
def test_page_has_no_accessibility_violations(site: OpenSite, address: str, scheme: str) -> None:
    page = site.open(site.folder / address, color_scheme=scheme)
    if address == "index.html":
        page.get_by_role("searchbox").fill("prod")
    violations = Axe().run(page, options={"preload": False})  # it would fetch the style again
    assert violations.violations_count == 0, violations.generate_report()
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(246, 247, 249)", "dark": "rgb(19, 22, 26)"}[scheme]

"""A real headless Chromium for tests of the page, and what the page asked of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from reports.as_html import matrix_html
from reports.matrix import Matrix
from tests.targets.kinds import not_run

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str | None:
    """The Chromium on PATH."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; without one the test is "not run", and in CI that is a failure."""
    path = find_browser()
    if path is None:
        not_run(f"no Chromium on PATH (looked for {', '.join(NAMES)}): apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class OpenPages:
    """Opens pages, and at the end holds each to it: no request but its own file, no error."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder
        self.requests: list[str] = []
        self.problems: list[str] = []

    def file(self, matrix: Matrix) -> Path:
        """The page as a file of its own."""
        file = self.folder / "index.html"
        file.write_text(matrix_html(matrix), "utf-8")
        return file

    def open(self, file: Path, address: str = "", **options: object) -> Page:
        """The page, drawn; `address` is what stands behind the #."""
        page = self.browser.new_page(viewport={"width": 1280, "height": 900}, **options)  # type: ignore[arg-type]
        page.set_default_timeout(10_000)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on(
            "console",
            lambda said: self.problems.append(said.text) if said.type == "error" else None,
        )
        page.goto(file.as_uri() + (f"#{address}" if address else ""))
        page.locator("#main").wait_for(state="visible")
        return page

    def close(self) -> None:
        """Shuts all pages."""
        for context in self.browser.contexts:
            context.close()
        allowed = (self.folder / "index.html").as_uri()
        assert {url.partition("#")[0] for url in self.requests} <= {allowed, "data:,"}
        assert self.problems == []


@pytest.fixture(scope="module", name="browser")
def _browser() -> Iterator[Browser]:
    """Ends with its module: while it runs, no other loop can run in this process."""
    with chromium() as browser:
        yield browser


@pytest.fixture(name="pages")
def _pages(browser: Browser, tmp_path: Path) -> Iterator[OpenPages]:
    pages = OpenPages(browser, tmp_path)
    yield pages
    pages.close()

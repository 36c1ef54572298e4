"""The page's view of mutants in a browser."""

from __future__ import annotations

from playwright.sync_api import expect

from .browser import OpenPages
from .made_matrix import small


def test_mutants_view_counts_by_area_and_operator(pages: OpenPages) -> None:
    page = pages.open(pages.file(small()), "view=mutants")
    expect(page.locator("#shown")).to_have_text("21 mutants")
    lines = page.locator("#grid .totals")
    shown = [lines.nth(at).locator("> *").all_inner_texts() for at in range(lines.count())]
    unread = "3 executed by no test, 4 equivalent"
    assert shown == [
        ["all", f"6 of 11 noticed\n2 passed everything, {unread}", "6 of 6 noticed"],
        ["META\narea", f"0 of 3 noticed\n{unread}", "–"],
        ["PROD\narea", "6 of 8 noticed\n2 passed everything", "–"],
        ["STOR\narea", "–", "6 of 6 noticed"],
        ["boundary\noperator", "5 of 5 noticed", "–"],
        ["timer\noperator", f"1 of 6 noticed\n2 passed everything, {unread}", "6 of 6 noticed"],
    ]

"""Several set-ups of one broker as one column: counts, matrix.json, matrix.md, and the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator
from playwright.sync_api import Page, expect

from reports.as_html import matrix_html
from reports.as_json import SCHEMA_FILE, matrix_json
from reports.as_markdown import matrix_markdown
from reports.joined_columns import JoinedColumn, JudgedAsOne, joined_columns
from reports.matrix import Matrix
from reports.totals import shown_totals

from .browser import OpenPages
from .made_matrix import HEADLINE, fallen, matrix, passed, row

AS_ONE = "reference as one"
SHOWN = JoinedColumn("reference", ("reference", "stranger"), HEADLINE)
"""Of the three targets of a made matrix the last two are shown as one."""


def joined() -> Matrix:
    made = matrix(
        row(1, "PROD", passed(), passed(), fallen("not_applicable", "")),
        row(2, "PROD", passed(), fallen("not_applicable", ""), passed()),
        row(3, "PROD", passed(), None, None),
        row(4, "PROD", passed(), passed(), None, level="SHOULD"),
        row(1, "META", passed(), passed(), fallen()),
    )
    return replace(made, joined=(SHOWN,))


def test_joined_column_needs_all_its_runs_to_be_the_newest_of_their_targets() -> None:
    record = JudgedAsOne("reference", ("run-1", "run-2"), HEADLINE)
    shown = {"reference": "run-1", "stranger": "run-2", "kafka:4.4.0": "run-0"}
    assert joined_columns(shown, [record]) == (SHOWN,)
    assert joined_columns({**shown, "stranger": "run-3"}, [record]) == ()


def test_columns_have_joined_one_in_place_of_its_targets() -> None:
    assert joined().columns == {"kafka:4.4.0": ("kafka:4.4.0",), AS_ONE: ("reference", "stranger")}
    kafka, one = shown_totals(joined())
    assert (one.target, [part.target for part in one.parts]) == (AS_ONE, ["reference", "stranger"])
    assert one.counts == {"passed": 3, "failed": 1}
    assert one.must == {"passed": 2, "failed": 1}
    assert (one.musts, one.requirements) == (HEADLINE.musts, HEADLINE.requirements)
    assert not kafka.parts


def test_json_has_worst_verdict_of_targets_for_each_requirement() -> None:
    said = json.loads(matrix_json(joined()))
    [column] = said["joined"]
    assert (column["name"], column["targets"]) == (AS_ONE, ["reference", "stranger"])
    assert column["verdicts"] == {
        "META-001": "failed",
        "PROD-001": "passed",
        "PROD-002": "passed",
        "PROD-004": "passed",
    }
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    form = {"$defs": schema["$defs"], "$ref": "#/$defs/joined"}
    Draft202012Validator(form).validate(column)


def test_markdown_counts_column_and_its_targets_and_lists_one_column() -> None:
    text = matrix_markdown(joined())
    counts, _, rest = text.partition("## Not passed")
    named = re.findall(r"^\| (\S[^|]*?) \| \d+ of \d+", counts, re.MULTILINE)
    assert named == ["kafka:4.4.0", AS_ONE, "reference", "stranger"]
    assert f"| {AS_ONE} | 4 of 1053 | **2** of 961 |" in counts
    assert f"{AS_ONE}: 1049 requirements of the catalogue not judged" in counts
    assert f"| requirement | level | statement | kafka:4.4.0 | {AS_ONE} |" in rest
    assert "PROD: 4 requirements, 3 passed everywhere" in rest


@contextmanager
def opened(pages: OpenPages, address: str = "") -> Iterator[Page]:
    yield pages.open(pages.file(joined()), address)


def heads(page: Page) -> list[str]:
    return page.locator("#grid [role=columnheader]").all_inner_texts()


@pytest.mark.rotates(8)
def test_page_opens_and_shuts_joined_column_and_keeps_it_in_the_address(pages: OpenPages) -> None:
    with opened(pages) as page:
        assert heads(page) == ["Requirement", "kafka:4.4.0", f"▸ {AS_ONE}"]
        page.get_by_role("button", name=AS_ONE).click()
        assert heads(page)[2:] == [f"▾ {AS_ONE}", "reference", "stranger"]
        assert "open=0" in page.url
        expect(page.get_by_role("button", name=AS_ONE)).to_be_focused()
        page.keyboard.press("Enter")
        assert heads(page)[2:] == [f"▸ {AS_ONE}"]


@pytest.mark.rotates(8)
def test_page_folds_and_filters_by_joined_verdict(pages: OpenPages) -> None:
    with opened(pages, "q=PROD&fold=0") as page:
        page.locator("#target").select_option(AS_ONE)
        page.locator("#verdicts").get_by_label("passed").check()
        assert page.locator("#grid .id").all_inner_texts() == ["PROD-001", "PROD-002", "PROD-004"]
    with opened(pages) as page:
        expect(page.get_by_text("3 requirements pass everywhere")).to_be_visible()


@pytest.mark.rotates(8)
def test_panel_of_joined_cell_shows_targets_with_checks(pages: OpenPages) -> None:
    with opened(pages) as page:
        page.locator("#grid .requirement", has_text="META-001").locator("> *").nth(2).click()
        titles = page.locator("#panel section h3").all_inner_texts()
        assert [title.split()[0] for title in titles] == ["reference", "stranger"]
        expect(page.locator("#grid .marked")).to_have_count(1)
    with opened(pages, f"at=PROD-004@{AS_ONE}") as page:
        assert len(page.locator("#panel section h3").all_inner_texts()) == 1


@pytest.mark.rotates(8)
def test_areas_view_counts_joined_verdicts(pages: OpenPages) -> None:
    with opened(pages, "view=areas") as page:
        line = page.locator("#grid .totals", has_text="PROD")
        expect(line.locator("> *").nth(2)).to_contain_text("2/2 MUST")


def test_page_without_joined_columns_has_none() -> None:
    assert '"asOne":[]' in matrix_html(replace(joined(), joined=()))

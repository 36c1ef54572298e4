"""The summary for CI: short, failures first, the rest folded, never too long."""

from __future__ import annotations

import re
from dataclasses import replace

from markdown_it import MarkdownIt

from reports import as_markdown
from reports.as_markdown import SIZE_LIMIT_BYTES, matrix_markdown

from .made_matrix import HEADLINE, fallen, large, matrix, passed, row, run, small


def test_counts_and_failures_precede_folded_details() -> None:
    text = matrix_markdown(small())
    open_, _, rest = text.partition("<details>")
    assert "| stranger | 5 of 8 | **3** of 7 |" in open_
    found = re.findall(r"^- \*\*([A-Z]+-\d+)\*\* \(\w+\) on \*\*(\S+)\*\*", open_, re.MULTILINE)
    assert found == [
        ("META-001", "stranger"),  # harness_error
        ("PROD-001", "stranger"),  # failed
        ("META-002", "stranger"),  # inconclusive
        ("META-003", "kafka:4.4.0"),  # warning
    ]
    assert "at v9" in open_
    assert "error\\_code is 0, expected 2" in open_
    assert "| PROD-002 | MUST |" in rest
    assert text.count("<details>") == text.count("</details>")


def test_headline_counts_catalogue_and_lists_what_was_not_judged() -> None:
    made = replace(small(), headlines={run("stranger").run: HEADLINE})
    open_ = matrix_markdown(made).partition("<details>")[0]
    assert "| stranger | 5 of 1053 | **3** of 961 |" in open_
    assert "stranger: 1048 requirements of the catalogue not judged" in open_
    assert "- 900 need several nodes: --target reference,nodes=3" in open_


def test_markdown_tables_render_as_html_tables() -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(matrix_markdown(small()))
    assert html.count("<table>") == 4 + 3  # counts, areas, APIs, runs; an area each
    assert "| ---" not in html


def test_api_versions_have_one_line_per_api_and_target() -> None:
    text = matrix_markdown(small())
    assert "| Produce (0) | stranger | v8–v9 | v8–v9 | v8 | v9 |" in text
    assert "| Metadata (3) | kafka:4.4.0 | v0 | v0 |" in text
    assert "declared* | answers decodable" in text
    assert "observed, as these advertise nothing: kafka:4.4.0\n" in text


def test_summary_without_failures_contains_explicit_sentence() -> None:
    text = matrix_markdown(matrix(row(1, "PROD", passed(), passed(), passed())))
    assert "Nothing failed, nothing is open." in text.partition("<details>")[0]


def test_excess_failures_are_folded_and_long_reasons_cut() -> None:
    rows = [row(n, "PROD", *[fallen(reason="x" * 5000)] * 3) for n in range(50)]
    text = matrix_markdown(matrix(*rows))
    assert text.partition("<details>")[0].count("\n- **") == as_markdown.FINDINGS_SHOWN
    assert "110 more</summary>" in text
    assert "x" * 301 not in text


def test_areas_beyond_size_limit_are_left_out_and_listed() -> None:
    made = large(20_000)
    text = matrix_markdown(replace(made, targets=made.targets))
    assert len(text.encode()) < SIZE_LIMIT_BYTES + 1000
    assert "Left out for length, see index.html: " in text
    assert "AREA39" in text.rpartition("Left out")[2]

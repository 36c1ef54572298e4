"""The first page: the targets, and a search over everything that needs no network."""

from __future__ import annotations

from typing import Any

from ..matrix import Matrix
from ..page_data import script_data
from ..totals import shown_totals
from ..wording import catalogue_warning, incomplete_warnings
from .addresses import requirement_page, target_page
from .api_pages import all_apis
from .given import SiteGiven
from .render import SitePages
from .requirement_pages import all_requirements

KINDS = ("target", "requirement", "API")


def write_index(pages: SitePages, matrix: Matrix, given: SiteGiven) -> None:
    """Write `index.html`."""
    pages.page(
        "index.html",
        "index.html",
        title="Kafka conformance",
        matrix=matrix,
        totals=shown_totals(matrix),
        incomplete=incomplete_warnings(matrix),
        catalogues=catalogue_warning(matrix),
        requirements=len(all_requirements(matrix, given)),
        apis=len(all_apis(matrix, given)),
        data=script_data({"kinds": KINDS, "entries": search_entries(matrix, given)}),
    )


def search_entries(matrix: Matrix, given: SiteGiven) -> list[list[Any]]:
    """The entries of the search: number of the kind, name, words, address."""
    runs = matrix.counted_runs
    return [
        *([0, target, _about(runs.get(target)), target_page(target)] for target in matrix.targets),
        *(
            [1, one.id, f"{one.level} {one.statement}", requirement_page(one.id)]
            for one in all_requirements(matrix, given)
        ),
        *([2, api.name, f"API key {api.key}", address] for api, address in all_apis(matrix, given)),
    ]


def _about(run: Any) -> str:
    return f"{run.implementation} {run.release}" if run else ""

"""The interface of this room: results in, a site out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..build import light_matrix
from ..dataset import find_datasets
from ..evidence import EVIDENCE_FOLDER, write_evidence
from ..given import Wording
from ..matrix import Matrix
from ..packages import RENDERERS, require_packages
from ..place import Placed, placed
from ..totals import totals
from .addresses import APIS, BADGES, FEEDS, REQUIREMENTS, SARIF, TARGETS, sarif, target_page
from .api_pages import write_api_pages
from .badges import write_badges
from .feeds import write_feeds
from .given import SiteGiven
from .index_page import write_index
from .render import STYLE, SitePages
from .requirement_pages import all_requirements, write_requirement_pages
from .target_pages import write_target_pages

MARKER: Final = "site.json"
SCHEMA_VERSION: Final = 1
SITE: Final = Placed(
    "site",
    frozenset(
        {
            *(MARKER, "index.html", STYLE, EVIDENCE_FOLDER),
            *(TARGETS, REQUIREMENTS, APIS, BADGES, FEEDS, SARIF),
        }
    ),
    MARKER,
)


@dataclass(frozen=True)
class SitePaths:
    """The first page of a site; `incomplete` names the runs that did not come to their end."""

    index: Path
    incomplete: tuple[str, ...]


def build_site(
    result_dirs: Sequence[Path], out: Path, wording: Wording, given: SiteGiven, url: str = ""
) -> SitePaths:
    """Aggregates all runs below `result_dirs` in this process and writes the site into `out`.

    For each target the newest run counts. `out` is replaced when it holds an earlier site, and
    nothing is left there when this fails. The same results give the same files. `url`: where the
    site will be served; the feeds have whole addresses then.

    Raises ReportError: no results, unreadable or foreign Parquet, an unknown verdict, a package
    that is not installed, an `out` that holds something else.
    """
    require_packages("light", *RENDERERS)
    datasets = find_datasets(list(result_dirs))
    matrix = light_matrix(datasets, wording)
    with placed(out, SITE) as folder:
        write_site(matrix, given, folder, url)
    return SitePaths(out / "index.html", matrix.incomplete)


def write_site(matrix: Matrix, given: SiteGiven, folder: Path, url: str = "") -> None:
    """Write all files of the site into an empty folder."""
    known = [one.id for one in all_requirements(matrix, given)]
    pages = SitePages(folder, given.catalogue_version, known)
    write_index(pages, matrix, given)
    write_target_pages(pages, matrix, given)
    write_requirement_pages(pages, matrix, given)
    write_api_pages(pages, matrix, given)
    write_badges(pages, matrix)
    write_feeds(pages, matrix, given, url)
    for target in matrix.targets:
        if target in given.sarif:
            pages.write(sarif(target), given.sarif[target])
    write_evidence(matrix.evidence, folder)
    pages.write(MARKER, _about(matrix, given))


def _about(matrix: Matrix, given: SiteGiven) -> str:
    """`site.json`: the targets with their pages, for other programs."""
    runs = matrix.counted_runs
    listed = [
        {
            "target": total.target,
            "page": target_page(total.target),
            "run": runs[total.target].run if total.target in runs else None,
            "counts": dict(sorted(total.counts.items())),
        }
        for total in totals(matrix)
    ]
    said = {
        "schema_version": SCHEMA_VERSION,
        "catalogue": given.catalogue_version,
        "incomplete": list(matrix.incomplete),
        "targets": listed,
    }
    return json.dumps(said, ensure_ascii=False, indent=1) + "\n"

"""The interface: results of many releases in, the changes between them out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..dataset import find_datasets
from ..place import Placed, placed
from ..session import require_java, require_pyspark, spark_session
from .as_html import archaeology_html
from .as_markdown import archaeology_markdown
from .as_parquet import write_tables
from .given import Given
from .history import Archaeology, archaeology
from .observe import observe, places_of

HTML: Final = "archaeology.html"
MARKDOWN: Final = "archaeology.md"
FILES: Final = frozenset({HTML, MARKDOWN, "releases.parquet", "changes.parquet"})


def build_archaeology(
    result_dirs: Sequence[Path], out: Path, master: str = "local[*]", *, given: Given
) -> Archaeology:
    """Aggregates the newest run of each released Kafka with Spark and writes `FILES` into `out`.

    `out` is replaced when it holds an earlier one, and nothing is left there when this fails. The
    same results give the same files, Parquet aside.

    Raises ReportError: no results of such a target, unreadable or foreign Parquet, no Java or
    PySpark, an `out` that holds something else.
    """
    require_pyspark()
    datasets = find_datasets(list(result_dirs))
    places = places_of(datasets, given)
    require_java()
    with placed(out, Placed("report", FILES)) as folder:
        with spark_session(master) as spark:
            observed = observe(spark, datasets, folder, places)
        found = archaeology(observed, given)
        write_tables(found, folder)
        for name, text in (
            (HTML, archaeology_html(found)),
            (MARKDOWN, archaeology_markdown(found)),
        ):
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return found

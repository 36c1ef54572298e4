"""A report appears as a whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .errors import ReportError
from .matrix import TABLES

REPORT_FILES: Final = frozenset(
    {
        *(f"{name}.parquet" for name in TABLES),
        "matrix.json",
        "matrix.schema.json",
        "matrix.md",
        "junit.xml",
        "index.html",
        "evidence",
    }
)


@contextmanager
def placed(out: Path, files: frozenset[str] = REPORT_FILES) -> Iterator[Path]:
    """A new folder beside `out` to write a report into; it becomes `out` when the block ends well.

    `files` are the names of what a report consists of; an earlier one in `out` is replaced. Raises
    ReportError, before anything is written, when `out` is a file or holds something that is no
    report, or can't be written.
    """
    out = out.absolute()
    _refuse_foreign(out, files)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise ReportError(
            f"the output can't be written: {error.strerror}",
            str(out),
            "choose a folder below one that you may write to",
        ) from error
    try:
        new = work / "new"
        new.mkdir()
        yield new
        _refuse_foreign(out, files)
        had_one = out.exists()
        if had_one:
            out.rename(work / "old")
        try:
            new.rename(out)
        except OSError:
            if had_one:
                (work / "old").rename(out)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _refuse_foreign(out: Path, files: frozenset[str]) -> None:
    advice = "choose a folder of its own for the report, for example R/report"
    if out.is_dir():
        foreign = sorted(entry.name for entry in out.iterdir() if entry.name not in files)
        if foreign:
            raise ReportError(
                f"the output folder holds something that is no report: {', '.join(foreign[:5])}",
                str(out),
                advice,
            )
    elif out.exists() or out.is_symlink():
        raise ReportError("the output is not a folder", str(out), advice)

"""A report appears as a whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Placed:
    """The content of a folder: its word, the names of its files, and `marker`, the file
    without which a folder is not one of these; None: the names alone show it."""

    word: str
    files: frozenset[str]
    marker: str | None = None


REPORT: Final = Placed("report", REPORT_FILES)


@contextmanager
def placed(out: Path, kind: Placed = REPORT) -> Iterator[Path]:
    """A new folder beside `out` to write a report into; it becomes `out` when the block ends well.

    An earlier one in `out` is replaced. Raises ReportError, before anything is written, when `out`
    is a file or holds something that is not of this `kind`, or can't be written.
    """
    out = out.absolute()
    _refuse_foreign(out, kind)
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
        _refuse_foreign(out, kind)
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


def _refuse_foreign(out: Path, kind: Placed) -> None:
    advice = f"choose a folder of its own for the {kind.word}, for example R/{kind.word}"
    if out.is_dir():
        found = sorted(entry.name for entry in out.iterdir())
        foreign = [name for name in found if name not in kind.files]
        if found and kind.marker is not None and kind.marker not in found:
            foreign = foreign or found
        if foreign:
            raise ReportError(
                f"the output folder holds something that is no {kind.word}: "
                f"{', '.join(foreign[:5])}",
                str(out),
                advice,
            )
    elif out.exists() or out.is_symlink():
        raise ReportError("the output is not a folder", str(out), advice)

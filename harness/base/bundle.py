"""Where the suites and the report are: beside this package in a source tree, inside it in a wheel.

A wheel has one top-level name, `harness`. What is not a part of that package travels as data in
``harness/_bundled`` and keeps its own names there: `reports` is importable as soon as that folder
is on the path. The suites are an archive there, which only some commands need: it is unpacked into
the cache folder at its first use (docs/install.md).
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import zipfile
from functools import lru_cache
from pathlib import Path

from harness.base.cache import CACHE_SETTING, cache_dir

_PACKAGE = Path(__file__).resolve().parents[1]
_BUNDLE = _PACKAGE / "_bundled"
_SUITES = _BUNDLE / "suites.zip"
"""Made by hatch_build.py."""

CLIENTS_SUITE = "suites/clients"
"""Below ``suites_root()``: asked by clients of other projects, with a command of its own."""

SUITES_CONFIG = _PACKAGE / "runner" / "suites.ini"
"""Pytest's configuration for a run, whatever lies around it."""


class SuitesNotUnpacked(OSError):
    """The suites of an installed package cannot be written into the cache folder."""


def is_bundled() -> bool:
    """True in an installed wheel, False in a source tree (an editable install is one)."""
    return _BUNDLE.is_dir()


def shipped_root() -> Path:
    """The folder that holds ``reports/`` and ``docker/``."""
    return _BUNDLE if is_bundled() else _PACKAGE.parent


@lru_cache(maxsize=1)
def suites_root() -> Path:
    """The folder that holds ``suites/``. Raises SuitesNotUnpacked."""
    return unpacked(_SUITES, cache_dir() / "suites") if is_bundled() else _PACKAGE.parent


def unpacked(archive: Path, place: Path) -> Path:
    """The folder below ``place`` with what is in the archive, unpacked once for all processes.

    Its name is the archive's checksum. Raises SuitesNotUnpacked.
    """
    folder = place / hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    try:
        if not folder.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            _unpack(archive, folder)
    except OSError as error:
        raise SuitesNotUnpacked(
            f"the suites cannot be unpacked into {folder}: {error.strerror or error}; "
            f"name another folder with the environment variable {CACHE_SETTING}"
        ) from error
    return folder


def _unpack(archive: Path, folder: Path) -> None:
    """The folder appears when it is whole; of two processes that unpack, one is in time."""
    beside = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        with zipfile.ZipFile(archive) as files:
            files.extractall(beside)
        beside.chmod(0o755)  # a cache may be shared, unlike a temporary folder
        beside.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def make_importable() -> None:
    """Put the root of `reports` first on the path; nothing else there could hide a module."""
    root = str(shipped_root())
    if root not in sys.path:
        sys.path.insert(0, root)


def renamed_cases_file() -> Path:
    """The table of the cases whose names have changed. Raises SuitesNotUnpacked."""
    return suites_root() / "suites" / "renamed_cases.tsv"

"""Where the suites and the report are: beside this package in a source tree, inside it in a wheel.

A wheel has one top-level name, `harness`. What is not a part of that package travels as data in
``harness/_bundled`` and keeps its own names there: `suites` and `reports` are importable as soon
as that folder is on the path.
"""

from __future__ import annotations

import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_BUNDLE = _PACKAGE / "_bundled"

SUITES_CONFIG = _PACKAGE / "runner" / "suites.ini"
"""Pytest's configuration for a run, whatever lies around it."""


def is_bundled() -> bool:
    """True in an installed wheel, False in a source tree (an editable install is one)."""
    return _BUNDLE.is_dir()


def shipped_root() -> Path:
    """The folder that holds ``suites/`` and ``reports/``."""
    return _BUNDLE if is_bundled() else _PACKAGE.parent


def make_importable() -> None:
    """Put that folder first on the path; nothing else is in it that could hide a module."""
    root = str(shipped_root())
    if root not in sys.path:
        sys.path.insert(0, root)


def renamed_cases_file() -> Path:
    """The table of the cases whose names have changed."""
    return shipped_root() / "suites" / "renamed_cases.tsv"

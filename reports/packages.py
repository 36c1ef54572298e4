"""The packages that a report needs and that are extras of this one."""

from __future__ import annotations

import sys
from typing import Final

from .errors import ReportError

RENDERERS: Final = ("jinja2", "junitparser")
"""The packages of the extra `light`; every report needs them."""


def require_packages(extra: str, *names: str) -> None:
    """Raises ReportError, with the extra, for the first package that is not installed."""
    for name in names:
        try:
            __import__(name)
        except ImportError as error:
            raise ReportError(
                f"the Python package {name} is needed for a report and can't be imported: {error}",
                f"the Python environment {sys.prefix}",
                f"install it with: pip install 'kafka-conformance[{extra}]'",
            ) from error

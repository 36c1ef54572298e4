"""The nearest known name, for error messages about an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` - did you mean "X"?`` for the nearest known name, or an empty string."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' - did you mean "{near[0]}"?' if near else ""

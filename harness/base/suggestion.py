"""The nearest known name, for error messages about an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CUTOFF = 0.6


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` - did you mean "X"?`` for the nearest known name, or an empty string."""
    near, score = "", CUTOFF
    for candidate in known:
        ratio = difflib.SequenceMatcher(None, candidate.lower(), name.lower()).ratio()
        if ratio > score:  # the first of several that are as near
            near, score = candidate, ratio
    return f' - did you mean "{near}"?' if near else ""

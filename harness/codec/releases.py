"""Releases of Apache Kafka as numbers, and ranges of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_NEVER_ENDS = (1 << 30,)


def release_numbers(release: str) -> tuple[int, ...]:
    """``3.9.2`` -> (3, 9, 2). Raises ValueError for what is no release."""
    if not _RELEASE.fullmatch(release):
        raise ValueError(f"not a release: {release!r} (write it like 3.9 or 3.9.2)")
    return tuple(int(word) for word in release.split("."))


@dataclass(frozen=True, slots=True)
class ReleaseRange:
    """All releases from ``first`` to ``last``; ``3.9`` as the last one includes every 3.9.x."""

    first: tuple[int, ...]
    last: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> ReleaseRange:
        """``2.7`` (with all of 2.7.x), ``2.4-3.9``, ``4.0+``. Raises ValueError for others."""
        first, dash, last = text.partition("-")
        if not dash and first.endswith("+"):
            return cls(release_numbers(first[:-1]), _NEVER_ENDS)
        found = cls(release_numbers(first), release_numbers(last if dash else first))
        if found.first[: len(found.last)] > found.last:
            raise ValueError(f"not a range of releases: {text!r} runs backwards")
        return found

    def __contains__(self, release: object) -> bool:
        """``release``: its numbers."""
        if not isinstance(release, tuple):
            return False
        found: bool = self.first <= release and release[: len(self.last)] <= self.last
        return found

    def overlaps(self, other: ReleaseRange) -> bool:
        """True if both ranges share a release."""
        low = max(self.first, other.first)
        return low in self and low in other

    def __str__(self) -> str:
        first = ".".join(map(str, self.first))
        if self.last == _NEVER_ENDS:
            return f"{first}+"
        return first if self.first == self.last else f"{first}-{'.'.join(map(str, self.last))}"

"""Version ranges as message definitions write them: ``3``, ``1-4``, ``2+``, ``none``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HIGHEST = 32767  # versions are int16
_SPEC = re.compile(r"(\d+)(?:(\+)|-(\d+))?")


@dataclass(frozen=True, slots=True)
class VersionRange:
    """All versions from ``lowest`` to ``highest``, both included; empty when lowest > highest."""

    lowest: int
    highest: int

    @classmethod
    def parse(cls, text: str) -> VersionRange:
        """Raises ValueError when ``text`` is none of the four forms."""
        if text == "none":
            return NO_VERSIONS
        match = _SPEC.fullmatch(text)
        if match is None:
            raise ValueError(f"not a version range: {text!r} (write 3, 1-4, 2+ or none)")
        low = int(match[1])
        high = HIGHEST if match[2] else int(match[3] or low)
        if low > high:
            raise ValueError(f"not a version range: {text!r} runs backwards")
        return cls(low, high)

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __bool__(self) -> bool:
        return self.lowest <= self.highest

    def __and__(self, other: VersionRange) -> VersionRange:
        return VersionRange(max(self.lowest, other.lowest), min(self.highest, other.highest))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.lowest == self.highest:
            return str(self.lowest)
        return f"{self.lowest}+" if self.highest == HIGHEST else f"{self.lowest}-{self.highest}"


NO_VERSIONS = VersionRange(0, -1)

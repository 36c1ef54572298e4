"""The comparisons of a run, and its differences."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass
class Count:
    """One kind of comparison: their number, the layouts, and each difference as a line."""

    compared: int = 0
    layouts: set[Hashable] = field(default_factory=set)
    from_json: int = 0
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For people: ``12720 of 636 layouts, 0 differ``."""
        written = f", {self.from_json} also written from their value" if self.from_json else ""
        return (
            f"{self.compared} of {len(self.layouts)} layouts{written}, {len(self.problems)} differ"
        )

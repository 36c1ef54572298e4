"""The headline of a run: how much of the catalogue it judged, and why it did not judge the rest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReportedGroup:
    """Ids of requirements that a run did not judge, the reason, and the option that gets them."""

    why: str
    remedy: str
    requirements: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of these requirements."""
        return len(self.requirements)


@dataclass(frozen=True)
class ReportedHeadline:
    """`requirements` and `musts` of the catalogue; `judged` and `musts_passed` of them in a run."""

    requirements: int
    judged: int
    musts: int
    musts_passed: int
    not_judged: tuple[ReportedGroup, ...]

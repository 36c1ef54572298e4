"""Which requirements are judged by a test, which are not, and whether that is explained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.conformance.catalogue import Catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaCoverage:
    """One area; the three parts together are all its requirements.

    Attributes:
        area, title: as in the catalogue.
        judged: ids that a test declares.
        not_judged: id to the written reason why no test judges it.
        unexplained: ids that no test judges, without a reason.
    """

    area: str
    title: str
    judged: tuple[str, ...]
    not_judged: Mapping[str, str]
    unexplained: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """All areas, in catalogue order.

    Attributes:
        areas: one entry an area.
        contradictory: ids that a test judges although the catalogue says why none does; they
            count as judged.
    """

    areas: tuple[AreaCoverage, ...]
    contradictory: tuple[str, ...]

    @property
    def judged(self) -> int:
        """Number of requirements that a test declares."""
        return sum(len(area.judged) for area in self.areas)

    @property
    def not_judged(self) -> int:
        """Number of requirements with a written reason why no test judges them."""
        return sum(len(area.not_judged) for area in self.areas)

    @property
    def unexplained(self) -> int:
        """Number of requirements that nobody judges or explains."""
        return sum(len(area.unexplained) for area in self.areas)


def coverage(declared: Iterable[str], catalogue: Catalogue) -> Coverage:
    """Compare what tests declare to judge with the catalogue.

    Args:
        declared: requirement ids, repetitions allowed.

    Raises:
        UnknownRequirementError: a declared id is not in the catalogue.
    """
    judged = {catalogue.requirement(name).id for name in declared}
    areas: list[AreaCoverage] = []
    for area in catalogue.areas.values():
        left = [catalogue.requirements[name] for name in area.requirements if name not in judged]
        areas.append(
            AreaCoverage(
                area=area.name,
                title=area.title,
                judged=tuple(name for name in area.requirements if name in judged),
                not_judged={one.id: one.not_judged for one in left if one.not_judged},
                unexplained=tuple(one.id for one in left if not one.not_judged),
            )
        )
    both = (name for name in judged if catalogue.requirements[name].not_judged)
    return Coverage(areas=tuple(areas), contradictory=tuple(sorted(both)))

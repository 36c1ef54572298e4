"""Coverage: the requirements that a test judges, those that none judges, and the explanations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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
        unproved: those of ``judged`` that are MUST and have no defect which their test kills; None
            where the defects are not known.
    """

    area: str
    title: str
    judged: tuple[str, ...]
    not_judged: Mapping[str, str]
    unexplained: tuple[str, ...]
    unproved: tuple[str, ...] | None


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
    def unproved(self) -> int | None:
        """Number of judged MUSTs without a killed defect, where that is known."""
        parts = [area.unproved for area in self.areas]
        return None if None in parts else sum(len(part or ()) for part in parts)

    @property
    def unexplained(self) -> int:
        """Number of requirements without a test and without an explanation."""
        return sum(len(area.unexplained) for area in self.areas)


def coverage(
    declared: Iterable[str], catalogue: Catalogue, proved: Collection[str] | None = None
) -> Coverage:
    """Compare what tests declare to judge with the catalogue.

    Args:
        declared: requirement ids, repetitions allowed.
        proved: ids with a defect that was killed; None where that is not known.

    Raises:
        UnknownRequirementError: a declared id is not in the catalogue.
    """
    judged = {catalogue.requirement(name).id for name in declared}
    areas: list[AreaCoverage] = []
    for area in catalogue.areas.values():
        tested = tuple(name for name in area.requirements if name in judged)
        left = [catalogue.requirements[name] for name in area.requirements if name not in judged]
        areas.append(
            AreaCoverage(
                area=area.name,
                title=area.title,
                judged=tested,
                not_judged={one.id: one.not_judged for one in left if one.not_judged},
                unexplained=tuple(one.id for one in left if not one.not_judged),
                unproved=None if proved is None else _unproved(tested, catalogue, proved),
            )
        )
    both = (name for name in judged if catalogue.requirements[name].not_judged)
    return Coverage(areas=tuple(areas), contradictory=tuple(sorted(both)))


def _unproved(
    tested: Iterable[str], catalogue: Catalogue, proved: Collection[str]
) -> tuple[str, ...]:
    musts = (name for name in tested if catalogue.requirements[name].level == "MUST")
    return tuple(name for name in musts if name not in proved)

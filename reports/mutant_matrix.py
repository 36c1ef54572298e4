"""Mutants of the built-in broker by area and operator: how sharp the suites are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FATES: Final = {
    "noticed": True,
    "elsewhere": True,
    "gone": True,
    "other_target": True,
    "undecided": False,
    "survived": False,
    "not_reached": False,
    "equivalent": None,
}
"""Whether the suites noticed such a mutant; None: there is nothing to notice."""


@dataclass(frozen=True, slots=True)
class ReportedMutants:
    """Equal mutants of one sample.

    `target`: the broker that they were made of; `at` and `seed`: of the sample; `area`: of the
    changed module; `operator`: the kind of mistake; `fate`: a key of `FATES`.
    """

    target: str
    at: str
    seed: int
    area: str
    operator: str
    fate: str
    mutants: int

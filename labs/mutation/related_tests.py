"""The tests that judge what a mutant's module does; they run before others that execute it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

import pytest

from harness.runner.case_selection import judged as requirements_of
from labs.mutation.areas import areas_of
from labs.mutation.mutant import Mutant

_HANDLER = re.compile(r"handlers\.api_(\d+)_")
NO_API = -1


class Relation(IntEnum):
    """The distance of a test from a mutant, the nearest first."""

    SAME_API = 0
    SAME_AREA = 1
    OTHER = 2


@dataclass(frozen=True, slots=True)
class JudgedSubject:
    """The API that a test runs at versions of, and the areas of its requirements."""

    api_key: int
    areas: frozenset[str]


def judged_by(items: Iterable[pytest.Item]) -> Mapping[str, JudgedSubject]:
    """Return what each test judges, by its node id."""
    return {item.nodeid: JudgedSubject(_api_key(item), _areas(item)) for item in items}


def relation(judged: JudgedSubject | None, mutant: Mutant) -> Relation:
    """Return the relation of a test; one that was not collected is OTHER."""
    if judged is None:
        return Relation.OTHER
    handler = _HANDLER.match(mutant.area_path)
    if handler is not None and int(handler[1]) == judged.api_key:
        return Relation.SAME_API
    is_of_area = not judged.areas.isdisjoint(areas_of(mutant.area_path))
    return Relation.SAME_AREA if is_of_area else Relation.OTHER


def is_related(judged: JudgedSubject | None, mutant: Mutant) -> bool:
    """True for a test of the mutated API, or of an area of the module."""
    return relation(judged, mutant) is not Relation.OTHER


def _api_key(item: pytest.Item) -> int:
    mark = item.get_closest_marker("at_versions")
    return NO_API if mark is None else mark.args[0].key


def _areas(item: pytest.Item) -> frozenset[str]:
    return frozenset(each.rpartition("-")[0] for each in requirements_of(item))

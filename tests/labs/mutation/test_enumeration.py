"""The list of all mutants: complete, without repetition, the same from the same source."""

from __future__ import annotations

from collections import Counter

import pytest

from labs.mutation.enumeration import NOT_MUTATED, PACKAGE, modules, mutants_of
from labs.mutation.operators import OPERATORS

SOURCE = '''
"""A module."""

LIMIT = 1 + 1


class Thing:
    """A thing."""

    def changes(self, a: int = 1 + 1) -> int:
        """Text with a < b."""
        assert a < 1
        return a + 1

    def __repr__(self) -> str:
        return "a" if self else "b"
'''


@pytest.mark.rotates(8)
def test_mutants_of_broker_have_unique_names_and_every_operator() -> None:
    every = [one for module, file in modules() for one in mutants_of(module, file.read_text())]
    names = Counter(one.name for one in every)
    assert [name for name, count in names.items() if count > 1] == []
    assert {one.operator for one in every} == set(OPERATORS)
    assert len(every) > 10_000


def test_same_source_has_same_mutants() -> None:
    first, second = [list(mutants_of(f"{PACKAGE}.any", SOURCE)) for _ in range(2)]
    assert first == second


def test_text_assertions_defaults_and_representations_are_not_mutated() -> None:
    found = list(mutants_of(f"{PACKAGE}.any", SOURCE))
    assert {one.function for one in found} == {"Thing.changes"}
    assert {one.line for one in found} == {13}


def test_modules_that_are_no_behaviour_are_left_out() -> None:
    found = {module.removeprefix(f"{PACKAGE}.") for module, _ in modules()}
    assert not found & NOT_MUTATED
    assert "state.partition.partition" in found

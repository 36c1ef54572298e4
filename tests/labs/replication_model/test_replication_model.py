"""All invariants hold, and what is planted is found."""

from __future__ import annotations

import pytest

from labs.replication_model.defects import DEFECTS, Plant
from labs.replication_model.machine import find
from labs.replication_model.rules import RULES
from labs.replication_model.walk import walk

pytestmark = pytest.mark.rotates(8)

SOME, MANY = 1_000, 60_000


def test_state_machine_violates_no_invariant() -> None:
    ran, story = find(SOME, number=1)
    assert story is None
    assert ran.total() > SOME // 4


def test_random_walks_violate_no_invariant_and_take_every_step() -> None:
    walked = walk(8 * SOME, first_seed=0)
    assert walked.story is None
    rare = {"elect_unclean"}
    assert {*RULES} - rare <= {name for name, count in walked.ran.items() if count}


@pytest.mark.sample(6)
@pytest.mark.parametrize("plant", DEFECTS, ids=lambda plant: plant.__name__)
def test_random_walks_find_planted_defect(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    walked = walk(MANY, first_seed=0)
    assert walked.story is not None
    assert "broken: " in walked.story

"""Random walks: the rules without Hypothesis, about four times as fast."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from labs.replication_model.playing import ModelStep, play, story_of
from labs.replication_model.rules import RULES
from labs.replication_model.world import WorldPlan

DRAWN = 150
"""Number of steps that are drawn for an example; about half of them do something."""
_NUMBERS = 60


@dataclass(slots=True)
class Walked:
    """`ran` are steps by rule. `story`: the least that breaks an invariant; `seed` finds it."""

    ran: Counter[str] = field(default_factory=Counter)
    examples: int = 0
    story: str | None = None
    seed: int = 0


def walk(steps: int, first_seed: int) -> Walked:
    """Examples, a seed each, until so many steps were done or an invariant broke."""
    walked = Walked(seed=first_seed)
    while walked.ran.total() < steps:
        plan, drawn = example(walked.seed)
        walked.examples += 1
        try:
            play(plan, drawn, walked.ran)
        except AssertionError:
            walked.story = story_of(plan, least(plan, drawn))
            return walked
        walked.seed += 1
    return walked


def example(seed: int) -> tuple[WorldPlan, list[ModelStep]]:
    """Return the plan and the steps that this seed draws."""
    chance = random.Random(seed)
    names, weights = [*RULES], [weight for _, weight in RULES.values()]
    brokers = chance.choice((3, 3, 4, 5))
    replicas = chance.randint(2, min(brokers, 4))
    plan = WorldPlan(
        brokers,
        replicas,
        chance.randint(1, replicas),
        keeps_eligible=chance.random() < 0.6,
        unclean=chance.random() < 0.2,
        asks_unclean=chance.random() < 0.2,
        loses_tails=chance.random() < 0.25,
    )
    drawn = chance.choices(names, weights, k=DRAWN)
    numbers = range(_NUMBERS)
    return plan, [ModelStep(name, chance.choice(numbers), chance.choice(numbers)) for name in drawn]


def least(plan: WorldPlan, steps: Sequence[ModelStep]) -> list[ModelStep]:
    """Leave out what is not needed to break something, larger pieces first."""
    left, size = [*steps], max(len(steps) // 2, 1)
    while size:
        at = 0
        while at < len(left):
            fewer = [*left[:at], *left[at + size :]]
            if _breaks(plan, fewer):
                left = fewer
            else:
                at += size
        size //= 2
    return left


def _breaks(plan: WorldPlan, steps: Sequence[ModelStep]) -> bool:
    try:
        play(plan, steps)
    except AssertionError:
        return True
    return False

"""Plays steps in a world, checks the invariants after each, and writes the story of a failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from labs.replication_model.healing import heal, told
from labs.replication_model.invariants import Invariants
from labs.replication_model.rules import RULES
from labs.replication_model.world import ModelWorld, WorldPlan


class ModelStep(NamedTuple):
    """A rule with the two numbers that make it definite."""

    rule: str
    one: int = 0
    other: int = 0

    def __str__(self) -> str:
        return f"{self.rule}({self.one}, {self.other})"


class ReplicationPlaying:
    """One example. `ran` counts the steps that did something."""

    def __init__(self, plan: WorldPlan, ran: Counter[str] | None = None) -> None:
        self.world = ModelWorld(plan)
        self.invariants = Invariants(self.world)
        self.ran = Counter[str]() if ran is None else ran

    def do(self, step: ModelStep) -> bool:
        """Play one step; True if it did anything. Raises Broken."""
        rule, _ = RULES[step.rule]
        if not rule(self.world, step.one, step.other):
            return False
        self.ran[step.rule] += 1
        self.world.settle_produces()
        self.invariants.check()
        return True

    def end(self) -> None:
        """Heal the world. Raises Broken if that is impossible."""
        heal(self.world, self.invariants)


def play(plan: WorldPlan, steps: Sequence[ModelStep], ran: Counter[str] | None = None) -> None:
    """Play a whole example. Raises Broken."""
    playing = ReplicationPlaying(plan, ran)
    for step in steps:
        playing.do(step)
    playing.end()


def story_of(plan: WorldPlan, steps: Sequence[ModelStep]) -> str:
    """Return the result of each step, up to the one that broke an invariant."""
    playing, lines = ReplicationPlaying(plan), [str(plan)]
    try:
        for step in steps:
            lines.append(str(step))
            if not playing.do(step):
                lines.pop()
                continue
            lines[-1] += f"\n    {told(playing.world)}"
        lines.append("heal")
        playing.end()
    except AssertionError as broken:
        lines.append(f"broken: {broken or repr(broken)}")
    return "\n".join(lines)

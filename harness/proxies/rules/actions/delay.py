"""The frame is late, and all behind it in its direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.hashed_chance import DISTRIBUTIONS, jittered
from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.values import choice, milliseconds
from harness.proxies.step import Send, Step, WaitStep


@dataclass(frozen=True, slots=True)
class Delay(RuleAction):
    """``jitter_ms``: by how much, to both sides (uniform), as deviation (normal), as mean
    (exponential, which only adds).
    """

    name = "delay"
    short = "ms"
    ms: float = setting(milliseconds)
    jitter_ms: float = setting(milliseconds, 0.0)
    distribution: str = setting(choice("distribution", DISTRIBUTIONS), "uniform")

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        late_ms = jittered(self.ms, self.jitter_ms, self.distribution, occasion.draw(1))
        return [WaitStep(late_ms, from_arrival=True), Send(data)]

"""The frame comes more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.values import integer
from harness.proxies.step import Send, Step


@dataclass(frozen=True, slots=True)
class Duplicate(RuleAction):
    """``times``: how often it comes in all."""

    name = "duplicate"
    short = "times"
    times: int = setting(integer(2, 1000), 2)

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        return [Send(data)] * self.times

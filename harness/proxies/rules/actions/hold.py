"""The frame waits, and all behind it, until another rule fires or this one is released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.values import milliseconds, text
from harness.proxies.step import Hold as HoldStep
from harness.proxies.step import Send, Step


@dataclass(frozen=True, slots=True)
class HoldFrame(RuleAction):
    """``until``: the id of a rule; its next firing releases the frame, on whatever connection.

    Without it only ``release`` does. In any case the frame waits at most ``at_most_ms``.
    """

    name = "hold"
    short = "at_most_ms"
    at_most_ms: float = setting(milliseconds)
    until: str | None = setting(text, None)

    @property
    def waits_for(self) -> str | None:
        return self.until

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        gate = occasion.gate(self.until, self.at_most_ms)
        return [HoldStep(gate, self.at_most_ms, occasion.expired), Send(data)]

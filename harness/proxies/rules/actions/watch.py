"""Nothing is done: the rule only counts, and others can wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction
from harness.proxies.step import Send, Step


@dataclass(frozen=True, slots=True)
class WatchFrame(RuleAction):
    name = "watch"
    only_looks = True

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        return [Send(data)]

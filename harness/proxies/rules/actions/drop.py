"""The frame is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction
from harness.proxies.step import Step


@dataclass(frozen=True, slots=True)
class Drop(RuleAction):
    name = "drop"
    keeps = True

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        return []

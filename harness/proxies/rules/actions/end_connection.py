"""The connection ends at a frame: in good order, or by a reset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.values import choice
from harness.proxies.step import Close as CloseStep
from harness.proxies.step import Reset as ResetStep
from harness.proxies.step import Send, Step

_when = choice("moment", ("before", "after"))


@dataclass(frozen=True, slots=True)
class _EndConnection(RuleAction):
    """``when`` before: the frame is lost, after: it is the last."""

    end: ClassVar[Step]
    short = "when"
    keeps = True
    when: str = setting(_when, "before")

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        return [*([Send(data)] if self.when == "after" else []), self.end]


@dataclass(frozen=True, slots=True)
class CloseOnFrame(_EndConnection):
    """Both sides are closed; ``when`` before: the frame is lost, after: it is the last."""

    name = "close"
    end = CloseStep()


@dataclass(frozen=True, slots=True)
class ResetOnFrame(_EndConnection):
    """Like close, by RST."""

    name = "reset"
    end = ResetStep()

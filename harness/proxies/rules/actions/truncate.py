"""Only the beginning of the frame goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.errors import Skip
from harness.proxies.rules.values import choice, integer
from harness.proxies.step import Close, End, Reset, Send, Step

AFTERWARDS: dict[str, list[Step]] = {
    "close": [Close()],
    "reset": [Reset()],
    "end": [End()],
    "go_on": [],
}


@dataclass(frozen=True, slots=True)
class Truncate(RuleAction):
    """``at_byte``: how many bytes go on, the four of the length among them; negative: how many
    are missing at the end. ``then``: both sides are closed, by FIN or RST, or only this direction
    ends, or all goes on, and the next frame stands where the rest of this one should.
    """

    name = "truncate"
    short = "at_byte"
    at_byte: int = setting(integer(-(2**31), 2**31 - 1))
    then: str = setting(choice("way to go on", AFTERWARDS), "close")

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        if not -len(data) <= self.at_byte < len(data):
            raise Skip(f"a frame of {len(data)} bytes cannot be cut at {self.at_byte}")
        rest = data[: self.at_byte]
        return [*([Send(rest)] if rest else []), *AFTERWARDS[self.then]]

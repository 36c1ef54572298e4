"""There are more bytes than there should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, payload_of, send, setting
from harness.proxies.rules.values import flag, hexadecimal
from harness.proxies.step import Send, Step


@dataclass(frozen=True, slots=True)
class Append(RuleAction):
    """``hex``: the bytes; ``inside``: at the frame's end and counted in its length, as a body with
    something left over. Else behind the frame, where the next should begin.
    """

    name = "append"
    short = "hex"
    hex: bytes = setting(hexadecimal)
    inside: bool = setting(flag, True)

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        if self.inside:
            return send(payload_of(data) + self.hex)
        return [Send(data + self.hex)]

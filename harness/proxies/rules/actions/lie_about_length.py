"""The length in front of the frame is not its own."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, payload_of, setting
from harness.proxies.rules.errors import RuleError, Skip
from harness.proxies.rules.scope import Scope
from harness.proxies.rules.values import INT32, integer
from harness.proxies.step import Send, Step

_LENGTH = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class LieAboutLength(RuleAction):
    """``by`` so many more or less than are there, or ``to`` any int32; the bytes stay the same."""

    name = "lie_about_length"
    short = "by"
    by: int | None = setting(integer(*INT32), None)
    to: int | None = setting(integer(*INT32), None)

    def check(self, scope: Scope) -> None:  # noqa: ARG002
        if (self.to is None) == (self.by is None):
            raise RuleError("needs one of the two, by or to")
        if self.by == 0:
            raise RuleError("by 0 is no lie", "by")

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        payload = payload_of(data)
        said = self.to if self.to is not None else len(payload) + (self.by or 0)
        if not INT32[0] <= said <= INT32[1]:
            raise Skip(f"{said} is no int32")
        if said == len(payload):
            raise Skip(f"the frame is {said} bytes long")
        return [Send(_LENGTH.pack(said) + payload)]

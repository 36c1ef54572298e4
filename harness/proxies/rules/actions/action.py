"""The base of actions, the reading of their settings, and their input."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from harness.codec.frame import LENGTH_BYTES, frame
from harness.proxies.rules.errors import RuleError, unknown
from harness.proxies.rules.frame_view import FrameView
from harness.proxies.rules.scope import Scope
from harness.proxies.rules.values import Read
from harness.proxies.step import Gate, Send, Step


@dataclass(slots=True)
class Occasion:
    """One firing: the frame as it came, chance for it, and the state that the action keeps.

    ``draw(n)``: the n-th number in [0, 1) for this frame. ``memory``: state of the action for this
    direction of this connection. ``gate(until, at_most_ms)``: a gate that opens when the rule is
    released or disarmed or when the rule ``until`` fires, and that is forgotten after that time.
    """

    frame: FrameView
    draw: Callable[[int], float]
    memory: dict[str, Any]
    gate: Callable[[str | None, float], Gate]
    note: Callable[[str], None] = lambda _: None  # that it was skipped after all, and why
    expired: Callable[[], object] = lambda: None  # that it is let go because its time is over


class RuleAction:
    """Base of all; a subclass is a frozen dataclass with its settings as fields.

    ``short``: the setting that a plain value in place of a table stands for. ``keeps``: no further
    rule can act on what it leaves. ``only_looks``: it never prevents another action.
    """

    name: ClassVar[str]
    short: ClassVar[str | None] = None
    keeps: ClassVar[bool] = False
    only_looks: ClassVar[bool] = False

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        """Return the steps in place of a frame, its length included. Raises Skip if impossible."""
        raise NotImplementedError

    def check(self, scope: Scope) -> None:
        """Raise RuleError when the action can never be done to the frames of a rule."""

    @property
    def waits_for(self) -> str | None:
        """The rule that it waits for."""
        return None

    @classmethod
    def read(cls, value: Any) -> Self:
        """Read the action from the value under its name in a rule. Raises RuleError."""
        fields = {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]
        if not isinstance(value, Mapping):
            value = cls._from_short(value, fields)
        read = {}
        for key, given in value.items():
            if key not in fields:
                raise unknown("setting", key, fields)
            try:
                read[key] = fields[key].metadata["read"](given)
            except RuleError as error:
                raise error.under(key) from None
        for key, one in fields.items():
            if key not in read and one.default is dataclasses.MISSING:
                raise RuleError(f"needs {key}")
        return cls(**read)

    @classmethod
    def _from_short(cls, value: Any, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        if value is True and not any(f.default is dataclasses.MISSING for f in fields.values()):
            return {}
        if cls.short is None:
            known = f"a table of {', '.join(fields)}" if fields else "true"
            raise RuleError(f"must be {known}, is {value!r}")
        return {cls.short: value}


def setting(read: Read[Any], default: Any = dataclasses.MISSING) -> Any:
    """Return a field of an action, with its reader and its default value."""
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata={"read": read})
    return dataclasses.field(default=default, metadata={"read": read})


def payload_of(data: bytes) -> bytes:
    """Return the payload of a whole frame."""
    return data[LENGTH_BYTES:]


def send(payload: bytes) -> list[Step]:
    """Return the step that sends a payload as a frame."""
    return [Send(frame(payload))]

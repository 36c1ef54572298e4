"""What an action is, how its settings are read, and what it is told."""

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
    """One firing: the frame as it came, chance for it, and what the rule keeps for its stream.

    ``draw(n)``: the n-th number in [0, 1) for this frame. ``memory``: whatever the action keeps,
    for this direction of this connection. ``gate(until, at_most_ms)``: one that is opened when
    the rule is released or disarmed, when the rule ``until`` fires, and forgotten after that time.
    """

    frame: FrameView
    draw: Callable[[int], float]
    memory: dict[str, Any]
    gate: Callable[[str | None, float], Gate]
    note: Callable[[str], None] = lambda _: None  # that it was skipped after all, and why
    expired: Callable[[], object] = lambda: None  # that it is let go because its time is over


class Action:
    """Base of all; a subclass is a frozen dataclass whose fields are its settings.

    ``short``: the setting that a plain value in place of a table stands for. ``keeps``: no further
    rule can do something to what it leaves. ``only_looks``: it never stands in another's way.
    """

    name: ClassVar[str]
    short: ClassVar[str | None] = None
    keeps: ClassVar[bool] = False
    only_looks: ClassVar[bool] = False

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        """What becomes of a whole frame, its length included. Raises Skip when it cannot be."""
        raise NotImplementedError

    def check(self, scope: Scope) -> None:
        """Raises RuleError for what can never be done to the frames of a rule."""

    @property
    def waits_for(self) -> str | None:
        """The rule that it waits for."""
        return None

    @classmethod
    def read(cls, value: Any) -> Self:
        """From the value that stands in a rule under its name. Raises RuleError."""
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
    """A field of an action: how it is read, and what it is without."""
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata={"read": read})
    return dataclasses.field(default=default, metadata={"read": read})


def payload_of(data: bytes) -> bytes:
    """Of a whole frame."""
    return data[LENGTH_BYTES:]


def send(payload: bytes) -> list[Step]:
    """A payload as a frame that goes on."""
    return [Send(frame(payload))]

"""Bytes that are not what was sent."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from harness.proxies.toxics.attributes import BadAttribute, number, whole, whole_numbers
from harness.proxies.toxics.toxic import Draw, Due, Toxic, ToxicState

ALL_BITS = 255
FARTHEST = 2.0**62  # no stream is as long
SELECTORS = ("offsets", "every", "probability")


@dataclass(frozen=True)
class Corrupt(Toxic):
    """Changes bytes: those at ``offsets``, ``every`` nth one, or each with ``probability``.

    Offsets count from 0 at the first byte that the toxic sees of the stream. A byte becomes
    ``set_to``, or has the bits of ``xor`` turned over (all of them, if neither is given).
    How the bytes were cut into pieces makes no difference.
    """

    type = "corrupt"
    offsets: tuple[int, ...] = whole_numbers()
    every: int = whole()
    probability: float = number(at_most=1)
    xor: int | None = whole(None, at_least=1, at_most=255)
    set_to: int | None = whole(None, at_most=255)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in SELECTORS if getattr(self, name)]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise BadAttribute(f"corrupt: give one of {', '.join(SELECTORS)}; there is {found}")
        if self.xor is not None and self.set_to is not None:
            raise BadAttribute("corrupt: give one of xor, set_to, not both")

    def begin(self, draw: Draw) -> CorruptState:
        return CorruptState(self, draw)


class CorruptState(ToxicState[Corrupt]):
    def __init__(self, toxic: Corrupt, draw: Draw) -> None:
        super().__init__(toxic, draw)
        self.seen_bytes = 0
        self.next = self._after(-1)

    def updated(self, toxic: Corrupt) -> None:
        super().updated(toxic)
        self.next = self._after(self.seen_bytes - 1)

    def data(self, data: bytes, arrived_ms: float) -> Iterable[Due]:
        start, end = self.seen_bytes, self.seen_bytes + len(data)
        self.seen_bytes = end
        if self.next >= end:
            return (Due(data, arrived_ms),)
        changed = bytearray(data)
        while self.next < end:
            index = int(self.next) - start
            changed[index] = self._changed(changed[index])
            self.next = self._after(int(self.next))
        return (Due(bytes(changed), arrived_ms),)

    def _changed(self, byte: int) -> int:
        toxic = self.toxic
        if toxic.set_to is not None:
            return toxic.set_to
        return byte ^ (ALL_BITS if toxic.xor is None else toxic.xor)

    def _after(self, offset: int) -> float:
        """Return the first offset to be changed behind this one."""
        toxic = self.toxic
        if toxic.offsets:
            index = bisect_left(toxic.offsets, offset + 1)
            return toxic.offsets[index] if index < len(toxic.offsets) else math.inf
        if toxic.every:
            return (offset + 1) // toxic.every * toxic.every + toxic.every - 1
        return offset + 1 + self._gap(toxic.probability)

    def _gap(self, probability: float) -> float:
        """Return the count of bytes that are left alone, from one draw for all of them."""
        if probability in (0, 1):
            return 0 if probability else math.inf
        return int(min(FARTHEST, math.log1p(-self.draw()) / math.log1p(-probability)))

"""The gates that a rule keeps shut, until it is released or another rule fires."""

from __future__ import annotations

from harness.proxies.step import Gate

_FEW = 64


class Gates:
    """The closed gates of a rule; it forgets open ones, and those with a time that is over."""

    def __init__(self) -> None:
        self._shut: list[tuple[Gate, str | None, float]] = []
        self._clean_at = _FEW

    def new(self, until: str | None, now_ms: float, at_most_ms: float) -> Gate:
        gate = Gate()
        if len(self._shut) >= self._clean_at:
            self._shut = [one for one in self._shut if not one[0].is_open and one[2] > now_ms]
            self._clean_at = max(_FEW, 2 * len(self._shut))
        self._shut.append((gate, until, now_ms + at_most_ms))
        return gate

    def open(self, now_ms: float, fired: str | None = None) -> int:
        """Open the gates that wait for the rule that fired, all without one.

        Return the number of frames that they held.
        """
        meant = [one for one in self._shut if fired is None or one[1] == fired]
        self._shut = [one for one in self._shut if fired is not None and one[1] != fired]
        count = 0
        for gate, _, deadline_ms in meant:
            count += not gate.is_open and deadline_ms > now_ms
            gate.open()
        return count

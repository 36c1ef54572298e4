"""Two frames in a row have each other's correlation id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, payload_of, send, setting
from harness.proxies.rules.actions.correlation_id import id_of, with_id
from harness.proxies.rules.values import milliseconds
from harness.proxies.step import Aside, Gate, Send, Step


@dataclass(slots=True)
class _Pair:
    """The first of two, which waits for the second; ``changed`` once that has come."""

    gate: Gate
    occasion: Occasion
    data: bytes
    changed: list[Step] | None = None
    gone: bool = False

    def steps(self) -> list[Step]:
        self.gone = True
        if self.changed is None:
            self.occasion.note("no second frame came to swap with")
            return [Send(self.data)]
        return self.changed


@dataclass(frozen=True, slots=True)
class SwapCorrelationIds(RuleAction):
    """The first of two on the same connection waits for the second, ``at_most_ms``; then it goes
    on as it came.
    """

    name = "swap_correlation_ids"
    short = "at_most_ms"
    keeps = True
    at_most_ms: float = setting(milliseconds, 1000.0)

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        payload = payload_of(data)
        second = id_of(occasion.frame, payload)
        pair: _Pair | None = occasion.memory.get("pair")
        if pair is None or pair.gone:
            pair = _Pair(occasion.gate(None, self.at_most_ms), occasion, data)
            occasion.memory["pair"] = pair
            return [Aside(pair.gate, self.at_most_ms, pair.steps, len(data))]
        waiting = payload_of(pair.data)
        first = id_of(occasion.frame, waiting)
        pair.changed = [
            *send(with_id(occasion.frame, waiting, second)),
            *send(with_id(occasion.frame, payload, first)),
        ]
        pair.gate.open()
        return []

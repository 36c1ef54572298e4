"""A fault that was injected before a target, and whether it did anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.proxies.direction import Direction
from harness.proxies.proxy import Proxy
from harness.proxies.rules.counts import RuleCounts
from harness.proxies.toxics.named import NamedToxic


class Fault:
    """``name`` says what it is: the id of its rule, or the sentence that made it.

    Where a rule waits for another, ``after_rule(fault)`` takes it too.
    """

    def __init__(
        self, name: str, fired: Callable[[], int], why_not: Callable[[], str] | None = None
    ) -> None:
        """``fired`` and ``why_not`` are called where the proxies run."""
        self.name, self.fired = name, fired
        self._why_not = why_not

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<fault {self.name}>"

    def problem(self, at_least: int) -> str:
        """Why it does not count as fired so often; empty when it does."""
        fired = self.fired()
        if fired >= at_least:
            return ""
        wanted = "did nothing" if not fired else f"fired {fired} times, not {at_least}"
        reason = self._why_not() if self._why_not else "nothing passed that it could strike"
        return f'the fault "{self.name}" {wanted}: {reason}'


def of_rule(name: str, counts: RuleCounts) -> Fault:
    """Fires once for each frame that the rule does something to."""
    return Fault(name, lambda: counts.fired, counts.in_words)


def of_toxics(name: str, toxics: Sequence[NamedToxic]) -> Fault:
    """One toxic on several proxies; more may be added to ``toxics`` later."""
    return Fault(name, lambda: sum(each.counts.fired for each in toxics))


class CutFault(Fault):
    """Fires with every byte that came and went no further, and every new connection."""

    def __init__(self, name: str, proxies: Sequence[Proxy], direction: Direction | None) -> None:
        super().__init__(name, self._struck)
        self._proxies = tuple(proxies)
        self._directions = tuple(Direction) if direction is None else (direction,)
        self._before = self._arrived()
        self._ended: int | None = None

    def ended(self) -> None:
        """It was healed: what comes now is none of its."""
        if self._ended is None:
            self._ended = self._struck()

    def _struck(self) -> int:
        return self._arrived() - self._before if self._ended is None else self._ended

    def _arrived(self) -> int:
        return sum(
            proxy.counters.accepted
            + sum(getattr(proxy.counters, each).bytes for each in self._directions)
            for proxy in self._proxies
        )

"""The common faults before a target, one short line each: ``behind.drop_answers("Produce")``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from harness.proxies.direction import Direction
from harness.proxies.proxy import Proxy
from harness.proxies.rules import Rule, RuleDidNotFire, RuleSet, when
from harness.proxies.rules.sentence import Sentence
from harness.proxies.running import RunningProxies
from harness.proxies.toxics.bandwidth import Bandwidth
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.toxic import Toxic
from harness.targets.fault import CutFault, Fault, of_rule, of_toxics

T = TypeVar("T")
Api = str | int


class FaultSentences(ABC):
    """The faults that can be applied to the proxies of a target; ``heal()`` removes all of them.

    ``nodes`` are broker ids. Without any a fault applies to all brokers, including those that
    appear later. ``which`` are the words of a rule (docs/proxy-rules.md), such as
    ``topic="orders"``, ``nth=2``, ``first=3``, ``probability=0.1``, ``destination=1``; wrong ones
    raise RuleError. Each method but ``refuse`` returns the :class:`Fault`, for `expect_fired`.
    """

    def __init__(self, net: RunningProxies, rules: RuleSet | None) -> None:
        """``rules``: None if another interceptor handles the frames."""
        self.net, self._rules = net, rules
        self._faults: list[Fault] = []
        self._toxics: list[tuple[Proxy, str]] = []
        self._for_new: list[Callable[[Proxy], None]] = []

    @property
    @abstractmethod
    def proxies(self) -> list[Proxy]:
        """All proxies, in the order in which they were made."""

    @abstractmethod
    def proxy_of(self, node: int) -> Proxy:
        """The proxy before this broker. Raises TargetError: there is no such node."""

    # -- frames ------------------------------------------------------------------------------------

    def arm(self, rule: Rule) -> Fault:
        """Any rule: ``arm(responses("Produce").topic("orders").nth(2).duplicate())``."""
        rules = self._rules
        if rules is None:
            raise TypeError("the proxies have an interceptor of their own: arm the rule there")

        def now() -> Fault:
            rules.arm(rule)
            return of_rule(rule.id, rules.counts(rule.id))

        return self._remember(self.net.call(now))

    def drop_requests(self, *apis: Api, **which: Any) -> Fault:
        """Drop requests: the broker never receives them."""
        return self.arm(_sentence("request", apis, which).drop())

    def drop_answers(self, *apis: Api, **which: Any) -> Fault:
        """Drop responses: the broker processes the requests, but the client gets no response."""
        return self.arm(_sentence("response", apis, which).drop())

    def delay_requests(self, *apis: Api, by_ms: float, **which: Any) -> Fault:
        """Delay requests, and the frames behind them, on their way to the broker."""
        return self.arm(_sentence("request", apis, which).delay(by_ms))

    def delay_answers(self, *apis: Api, by_ms: float, **which: Any) -> Fault:
        """Delay responses, and the frames behind them, on their way to the client."""
        return self.arm(_sentence("response", apis, which).delay(by_ms))

    def refuse_requests(self, *apis: Api, error: str | int, **which: Any) -> Fault:
        """Answer requests with this error (Kafka's name or code); the broker never gets them."""
        return self.arm(_sentence("request", apis, which).answer_error(error))

    def fail_answers(self, *apis: Api, error: str | int, **which: Any) -> Fault:
        """Replace responses by this error; the broker has processed the requests."""
        return self.arm(_sentence("response", apis, which).fail_with(error))

    def close_at_requests(self, *apis: Api, **which: Any) -> Fault:
        """Close the connection in place of requests: the broker never receives them."""
        return self.arm(_sentence("request", apis, which).close())

    def close_at_answers(self, *apis: Api, **which: Any) -> Fault:
        """Close the connection in place of responses: the broker has processed the requests."""
        return self.arm(_sentence("response", apis, which).close())

    def end(self, fault: Fault) -> None:
        """Take back one fault of frames; the others stay. Raises RuleError: it has ended."""
        rules = self._rules
        if rules is None:
            raise TypeError("the proxies have an interceptor of their own: disarm the rule there")
        self.net.call(lambda: rules.disarm(fault.name))

    # -- bytes -------------------------------------------------------------------------------------

    def delay(self, milliseconds: float, *nodes: int, jitter_ms: float = 0) -> Fault:
        """Delay all that brokers send, give or take the jitter; the order is kept."""
        name = f"delay {milliseconds:g} ms"
        return self._toxic(name, Latency(latency=milliseconds, jitter=jitter_ms), nodes)

    def slow_down(self, *nodes: int, kb_per_s: float) -> Fault:
        """Limit the rate at which brokers send, in units of 1000 bytes a second."""
        return self._toxic(f"slow down to {kb_per_s:g} kB/s", Bandwidth(rate=kb_per_s), nodes)

    def _toxic(self, name: str, toxic: Toxic, nodes: tuple[int, ...]) -> Fault:
        named: list[NamedToxic] = []
        name = f"{name} ({len(self._faults) + 1})"  # names are unique on a proxy

        def add(proxy: Proxy) -> None:
            named.append(proxy.toxics.add(toxic, name=name))
            self._toxics.append((proxy, name))

        self._everywhere(add, nodes)
        return self._remember(of_toxics(name, named))

    # -- whole links -------------------------------------------------------------------------------

    def cut(self, *nodes: int, direction: Direction | None = None) -> Fault:
        """Silence: connections stay, new ones are taken, nothing passes until it is healed."""
        chosen = self._chosen(nodes)
        fault = self.net.call(lambda: CutFault(_about("cut", nodes), chosen, direction))
        self._everywhere(lambda proxy: proxy.cut(direction), nodes)
        return self._remember(fault)

    def reset(self, *nodes: int) -> Fault:
        """Every connection that is open ends now, by RST; new ones are served."""
        chosen = self._chosen(nodes)

        def now() -> int:
            count = sum(len(proxy.connections) for proxy in chosen)
            for proxy in chosen:
                proxy.reset_connections()
            return count

        count = self.net.call(now)
        return self._remember(
            Fault(_about("reset", nodes), lambda: count, lambda: "no connection was open")
        )

    def refuse(self, *nodes: int) -> None:
        """Close connections and refuse new ones, as if the broker were down.

        Refused connections cannot be counted, so no fault is returned that could be expected to
        have fired.
        """
        chosen = self._chosen(nodes)

        async def now() -> None:
            for proxy in chosen:
                await proxy.disable()

        self.net.wait_for(now())

    def heal(self) -> None:
        """Take back every fault: nothing is lost that was held, ports are open again."""
        self.net.wait_for(self._heal_now())

    async def _heal_now(self) -> None:
        self._for_new.clear()
        for fault in self._faults:
            if isinstance(fault, CutFault):
                fault.ended()
        if self._rules is not None:
            self._rules.disarm()
        for proxy, name in self._toxics:
            if name in proxy.toxics:
                proxy.toxics.remove(name)
        self._toxics.clear()
        for proxy in self.proxies:
            proxy.heal()
            await proxy.enable()

    # -- what they did -----------------------------------------------------------------------------

    def expect_fired(self, *faults: Fault, at_least: int = 1) -> None:
        """Check that each of these faults (without any: all) fired at least so often.

        Raises RuleDidNotFire, which fails a test; its text describes each fault that did not.
        """
        wanted = faults or tuple(self._faults)
        problems = self.net.call(lambda: [fault.problem(at_least) for fault in wanted])
        if not wanted:
            raise RuleDidNotFire("no fault was injected that can be counted")
        if any(problems):
            raise RuleDidNotFire("\n".join(filter(None, problems)))

    def _remember(self, fault: Fault) -> Fault:
        self._faults.append(fault)
        return fault

    # -- where -------------------------------------------------------------------------------------

    def _chosen(self, nodes: tuple[int, ...]) -> list[Proxy]:
        return [self.proxy_of(node) for node in nodes] if nodes else self.proxies

    def _everywhere(self, do: Callable[[Proxy], None], nodes: tuple[int, ...]) -> None:
        """To these proxies at one moment; to all, those that are made later too, without any."""
        chosen = self._chosen(nodes)

        def now() -> None:
            for proxy in chosen if nodes else self.proxies:
                do(proxy)
            if not nodes:
                self._for_new.append(do)

        self.net.call(now)


def _sentence(on: str, apis: tuple[Api, ...], which: dict[str, Any]) -> Sentence:
    words = {"on": on, **({"api": apis[0] if len(apis) == 1 else list(apis)} if apis else {})}
    return when(**words, **which)


def _about(what: str, nodes: tuple[int, ...]) -> str:
    return " ".join([what, *map(str, nodes)])

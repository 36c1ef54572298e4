"""Faults on the way between a test and the broker under test.

A test takes the fixture ``faults`` and asks for a path: a proxy on this machine with rules, in
front of the broker. What the test connects ``through`` it meets the rules, all else does not. The
links of a private cluster are such paths between its nodes: ``slowed`` and ``ruled``.
"""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from harness.client.clear_relay import ClearWays
from harness.proxies.addresses import AddressBook, AddressRewriter
from harness.proxies.clock import new_clock
from harness.proxies.event import Event
from harness.proxies.proxy import Proxy
from harness.proxies.rules import (
    Rule,
    RuleDidNotFire,
    RuleSet,
    frames,
    requests,
    responses,
)
from harness.proxies.rules.link_rules import LinkRules
from harness.proxies.running import RunningProxies
from harness.proxies.toxics.latency import Latency

__all__ = [
    "Event",
    "Faults",
    "FaultyPath",
    "Rule",
    "RuledLink",
    "frames",
    "requests",
    "responses",
    "ruled",
    "slowed",
]

EVENTS_KEPT = 10_000


class FaultyPath:
    """A proxy before the broker under test, with rules at work on what passes."""

    def __init__(self, net: RunningProxies, proxy: Proxy, rules: RuleSet) -> None:
        self._net, self._proxy, self._rules = net, proxy, rules

    @property
    def address(self) -> tuple[str, int]:
        """The address to connect to: there the faults apply."""
        return self._proxy.listen

    def arm(self, *rules: Rule) -> None:
        """Arm these rules too, from now on."""
        self._net.call(self._rules.arm, *rules)

    def disarm(self) -> None:
        """Disarm all rules; frames that were held go on."""
        self._net.call(self._rules.disarm)

    def expect_fired(self, *ids: str, at_least: int = 1) -> None:
        """Raise RuleDidNotFire when a fault did nothing, so that nothing was tested."""
        self._net.call(self._rules.expect_fired, *ids, at_least=at_least)

    def has_fired(self, *ids: str) -> bool:
        """True if each of these faults has fired."""
        try:
            self.expect_fired(*ids)
        except RuleDidNotFire:
            return False
        return True


class Faults:
    """The paths of one test, and the journal of what was done on them."""

    def __init__(self, upstream: tuple[str, int], seed: str) -> None:
        """``seed``: of every draw; the same text and traffic, the same faults."""
        self._upstream, self._seed = upstream, zlib.crc32(seed.encode())
        self._paths = 0
        self._now_ms = new_clock()
        self.events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self._told = 0

    def _tell(self, event: Event) -> None:
        self._told += 1
        self.events.append(event)

    @contextmanager
    def path(self, *rules: Rule, leads: bool = False) -> Iterator[FaultyPath]:
        """A proxy that ends, with all its connections, when the block does.

        ``leads``: what the broker lists as addresses is replaced, so that a client that goes where
        it is led stays behind proxies with these rules.
        """
        self._paths += 1
        source = "client" if self._paths == 1 else f"client-{self._paths}"
        with ClearWays() as ways, RunningProxies() as net:
            made = RuleSet(*rules, seed=self._seed, now_ms=self._now_ms, tell=self._tell)

            def proxy_before(upstream: tuple[str, int]) -> Proxy:
                return Proxy(
                    source,
                    ways.to(upstream),
                    source=source,
                    interceptor=made,
                    rewriter=rewriter,
                    seed=self._seed,
                    tell=self._tell,
                    now_ms=self._now_ms,
                )

            book = AddressBook(lambda _, node: net.add_now(proxy_before(node)))
            rewriter = AddressRewriter(book) if leads else None
            first = proxy_before(self._upstream)
            net.add(first)
            yield FaultyPath(net, first, made)

    def journal(self) -> list[dict[str, Any]]:
        """Return the events in order, as JSON values.

        Of very many events the last ones are returned, after the number of those that were lost.
        """
        return plain(self.events, self._told - len(self.events))


class _Reached(Protocol):
    """A link, see :class:`harness.proxies.links.Link`."""

    def call(self, work: Callable[[Any], Any]) -> Any: ...


@contextmanager
def slowed(link: _Reached, by_ms: float) -> Iterator[None]:
    """While the block runs, what the destination answers on this link comes so much later."""
    named = link.call(lambda proxy: proxy.toxics.add(Latency(latency=by_ms)))
    try:
        yield
    finally:
        link.call(lambda proxy: proxy.toxics.remove(named.name))


class RuledLink:
    """A link of a private cluster with rules at work on the frames that pass."""

    def __init__(self, link: _Reached) -> None:
        self._link = link
        rules = link.call(lambda proxy: proxy.interceptor)
        if not isinstance(rules, LinkRules):
            raise TypeError(f"the link {link} carries no frames that rules could know")
        self._rules = rules
        self._tell = self._rules.tell
        self._heard: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self._told = 0

    def _hear(self, event: Event) -> None:
        self._told += 1
        self._heard.append(event)
        self._tell(event)

    def begin(self, *rules: Rule) -> None:
        """These rules, and what they do is written down."""
        self._rules.tell = self._hear
        self.arm(*rules)

    def end(self) -> None:
        """Disarm all rules; frames that were held go on."""
        self._link.call(lambda _: self._rules.disarm())
        self._rules.tell = self._tell

    def arm(self, *rules: Rule) -> None:
        """Arm these rules too, from now on, behind those there are."""
        self._link.call(lambda _: self._rules.arm(*rules))

    def release(self, rule: str) -> None:
        """Release the frames that the rule of this id holds."""
        self._link.call(lambda _: self._rules.release(rule))

    @property
    def events(self) -> list[Event]:
        """The actions of the rules and the ends of connections since the beginning, in order.

        Raises OverflowError: there were more than are kept, so the beginning is not known.
        """
        told, heard = self._link.call(lambda _: (self._told, list(self._heard)))
        if told > len(heard):
            raise OverflowError(f"{told} events on {self._link}; {EVENTS_KEPT} are kept")
        return list(heard)

    def fired(self, rule: str) -> int:
        """Return the number of times that the rule of this id has fired."""
        count: int = self._link.call(lambda _: self._rules.counts(rule).fired)
        return count


@contextmanager
def ruled(link: _Reached, *rules: Rule) -> Iterator[RuledLink]:
    """While the block runs, these rules are at work on the link."""
    made = RuledLink(link)
    made.begin(*rules)
    try:
        yield made
    finally:
        made.end()


def plain(events: Iterable[Event], lost: int) -> list[dict[str, Any]]:
    """Events as JSON can hold them, behind a word of those that were too many to keep."""
    # Through JSON: workers can hand on nothing else, such as the enum of Direction.
    said = [json.loads(json.dumps(event.to_json())) for event in events]
    if lost:
        said.insert(0, {"at_ms": 0.0, "what": "lost", "detail": {"events": lost}})
    return said

"""A script as it happens: one connection through a proxy, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from harness.proxies.addresses import Address, AddressBook, AddressRewriter
from harness.proxies.connection import ProxiedConnection
from harness.proxies.direction import Direction
from harness.proxies.proxy import Proxy
from harness.proxies.rules import RuleSet
from labs.fuzz.proxied.faults import (
    HARMFUL,
    HARMLESS,
    chosen_rules,
    limits,
    rules_without_effect,
)
from labs.fuzz.proxied.hand_loop import HandLoop
from labs.fuzz.proxied.memory_transport import MemoryTransport
from labs.fuzz.proxied.script import PLAIN, REWRITING, Op, Script, ScriptKind

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
WAYS = (None, UP, DOWN)
WIDE = 1 << 30
LONGEST_MS = 20_000.0  # that one step lets pass
MOST_GROWTH = 4  # of a frame with addresses, the shortest of which has 6 bytes
END_S = 4 * 3600.0  # all is over by then


def proxy_of(view: str, node: Address) -> Address:
    """A name longer than most."""
    return f"{node[0][:8]}.proxy.{view}", 40_000 + node[1] % 10_000


class Play:
    """``at_rest`` is called whenever nothing more happens without the next step."""

    def __init__(self, script: Script, at_rest: Callable[[Play], object]) -> None:
        self.script, self._at_rest = script, at_rest
        self.loop = HandLoop()
        self.loop.dial = lambda: self.dialled
        self.client, self.broker = MemoryTransport(self.loop), MemoryTransport(self.loop)
        self.dialled: asyncio.Future[MemoryTransport] = self.loop.create_future()
        rules: tuple[Any, ...] = rules_without_effect()
        if script.has_rules:
            rules = chosen_rules()
            named = {name for rule in rules for name in rule.rules_named.values()}
            rules = tuple(
                rule for bit, rule in enumerate(rules)
                if script.rules >> bit & 1 or rule.id in named
            )  # fmt: skip
        now_ms = self.loop.now_ms
        self.rules = RuleSet(*rules, seed=script.seed, now_ms=now_ms)
        self.rewriter = AddressRewriter(AddressBook(proxy_of)) if script.rewrites else None
        self.limits = limits(script.limits)
        self.proxy = Proxy("fuzzed", ("127.0.0.1", 9), interceptor=self.rules,
                           rewriter=self.rewriter, seed=script.seed, now_ms=now_ms,
                           limits=self.limits)  # fmt: skip
        self.toxics = HARMLESS if script.mode in (PLAIN, REWRITING) else HARMLESS + HARMFUL
        self.connection: ProxiedConnection
        self.is_disturbed = False  # some peer or the proxy ended more than its own direction

    def run(self) -> None:
        """All of it, then what brings it to its end."""
        with self.loop.current():
            try:
                self._begin()
                for op in self.script.ops:
                    _DOES[op.kind](self, op)
                    self._settle()
                self._finish()
            finally:
                self._leave_nothing()

    def _begin(self) -> None:
        for bit in range(8):
            if self.script.toxics >> bit & 1:
                self._toxic(Op(ScriptKind.TOXIC, bit))
        self.loop.create_task(self.proxy._begin(self.client))  # type: ignore[arg-type]
        if self.script.is_eager:
            self.client.window = self.broker.window = WIDE
        if not self.script.is_dialled_by_hand:
            self.dialled.set_result(self.broker)
        self.loop.run()
        (self.connection,) = self.proxy.connections
        self._settle()

    def _finish(self) -> None:
        """Whatever was held is let go, and both ends read all and end."""
        self.proxy.heal()
        self.proxy.toxics.clear()
        self.rules.disarm()
        if not self.dialled.done():
            self.dialled.set_result(self.broker)
        for peer in (self.client, self.broker):
            peer.peer_takes(WIDE)
            peer.peer_ends()
        self._settle()
        self._let_pass(END_S)

    def _settle(self) -> None:
        """Until nothing more happens by itself."""
        while self.loop.run() or self.client.read_once() or self.broker.read_once():
            self._at_rest(self)
        self._at_rest(self)

    def _let_pass(self, for_s: float) -> None:
        until_s = self.loop.now_s + for_s
        while self.loop.turn(until_s):
            self._settle()

    def _leave_nothing(self) -> None:
        """No task may be left to be complained about when it is garbage."""
        for task in (*self.proxy._accepting, *self.proxy._connecting):
            task.cancel()
        self.dialled.cancel()
        while self.loop._ready:
            self.loop._ready.popleft()._run()

    # -- the steps ---------------------------------------------------------------------------------

    def _sends(self, op: Op) -> None:
        (self.client if op.kind is ScriptKind.CLIENT_SENDS else self.broker).peer_sends(op.data)

    def _takes(self, op: Op) -> None:
        (self.client if op.kind is ScriptKind.CLIENT_TAKES else self.broker).peer_takes(op.number)

    def _passes(self, op: Op) -> None:
        self._let_pass(min(op.number, LONGEST_MS) / 1000)

    def _ends(self, op: Op) -> None:
        (self.client if op.kind is ScriptKind.CLIENT_ENDS else self.broker).peer_ends()

    def _resets(self, op: Op) -> None:
        self.is_disturbed = True
        (self.client if op.kind is ScriptKind.CLIENT_RESETS else self.broker).peer_resets()

    def _cut(self, op: Op) -> None:
        self.proxy.cut(WAYS[op.number % 3])

    def _heal(self, op: Op) -> None:
        self.proxy.heal(WAYS[op.number % 3])

    def _toxic(self, op: Op) -> None:
        toxic, way = self.toxics[op.number % len(self.toxics)], WAYS[1 + op.number // 64 % 2]
        name = f"{toxic}{way}"
        assert way is not None
        if name not in self.proxy.toxics:
            self.proxy.toxics.add(toxic, way, name=name, toxicity=1 - op.number // 128 % 2 / 2)

    def _no_toxic(self, op: Op) -> None:
        names = [named.name for named in self.proxy.toxics]
        if names:
            self.proxy.toxics.remove(names[op.number % len(names)])

    def _release(self, op: Op) -> None:
        ids = [rule.id for rule in self.rules.rules]
        if ids:
            self.rules.release(ids[op.number % len(ids)])

    def _dial(self, op: Op) -> None:
        if self.dialled.done():
            return
        if op.number % 2:
            self.dialled.set_exception(ConnectionRefusedError("nobody is there"))
            self.dialled.exception()  # it may never be waited for
        else:
            self.dialled.set_result(self.broker)

    def _to_proxy(self, op: Op) -> None:
        if op.number % 3 == 0:
            self.is_disturbed = True
            self.proxy.reset_connections()
        elif op.number % 3 == 1:
            self.is_disturbed = True
            for connection in self.proxy.connections:
                connection.abort()
        else:
            self.proxy.toxics.clear()


_DOES: dict[ScriptKind, Callable[[Play, Op], None]] = {
    ScriptKind.CLIENT_SENDS: Play._sends,
    ScriptKind.BROKER_SENDS: Play._sends,
    ScriptKind.CLIENT_TAKES: Play._takes,
    ScriptKind.BROKER_TAKES: Play._takes,
    ScriptKind.PASSES: Play._passes,
    ScriptKind.CLIENT_ENDS: Play._ends,
    ScriptKind.BROKER_ENDS: Play._ends,
    ScriptKind.CLIENT_RESETS: Play._resets,
    ScriptKind.BROKER_RESETS: Play._resets,
    ScriptKind.CUT: Play._cut,
    ScriptKind.HEAL: Play._heal,
    ScriptKind.TOXIC: Play._toxic,
    ScriptKind.NO_TOXIC: Play._no_toxic,
    ScriptKind.RELEASE: Play._release,
    ScriptKind.DIALLED: Play._dial,
    ScriptKind.PROXY: Play._to_proxy,
}

"""Carries out a schedule on the proxies before a target, and heals everything at its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.proxies.proxy import Proxy
from harness.proxies.rules import RuleSet, read_rule
from harness.proxies.toxics.named import NamedToxic
from harness.targets.proxied import ProxiedTarget
from labs.clients_under_faults.schedule import FaultSchedule, ScheduledFault

Told = Callable[[str], None]


class Nemesis:
    """Executes a schedule of faults, and reports the beginning and the end of each in words."""

    def __init__(self, behind: ProxiedTarget, rules: RuleSet, told: Told) -> None:
        self._behind, self._rules, self._told = behind, rules, told
        self.problem: Exception | None = None
        self._over = threading.Event()

    @contextmanager
    def at_work(self, schedule: FaultSchedule, healed: Callable[[], None]) -> Iterator[None]:
        """Execute the schedule while the block runs; ``healed`` is called at its end.

        All faults are healed when the block ends, also by an error.
        """
        stop = threading.Event()
        self._over.clear()
        thread = threading.Thread(target=self._run, args=(schedule, stop, healed), name="nemesis")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _run(
        self, schedule: FaultSchedule, stop: threading.Event, healed: Callable[[], None]
    ) -> None:
        began_s = time.monotonic()
        try:
            for at_ms, begins, fault in _steps(schedule):
                if stop.wait(max(0.0, began_s + at_ms / 1000 - time.monotonic())):
                    break
                self._do(fault, begins)
                self._told(f"{'begins' if begins else 'ends'}: {fault}")
        except Exception as problem:  # of another thread: the caller raises it
            self.problem = problem
        finally:
            self._behind.net.wait_for(self._heal())
            self._told("all is healed")
            healed()
            self._over.set()

    def wait(self) -> None:
        """Wait until all faults are healed."""
        self._over.wait()

    def _do(self, fault: ScheduledFault, begins: bool) -> None:
        if fault.kind == "rule":
            if begins:
                self._behind.net.call(self._rules.arm, read_rule(fault.words))
            else:
                self._behind.net.call(self._rules.disarm, fault.words["id"])
            return
        begin, end = DEEDS[fault.kind]
        deed = begin if begins else end
        for proxy in self._behind.proxies:
            self._behind.net.wait_for(deed(proxy, fault))

    async def _heal(self) -> None:
        self._rules.disarm()
        for proxy in self._behind.proxies:
            proxy.toxics.clear()
            await proxy.enable()


def _steps(schedule: FaultSchedule) -> list[tuple[int, bool, ScheduledFault]]:
    begins = [(fault.at_ms, True, fault) for fault in schedule.faults]
    ends = [(fault.at_ms + fault.for_ms, False, fault) for fault in schedule.faults if fault.for_ms]
    return sorted(begins + ends, key=lambda step: step[0])


async def _add_toxic(proxy: Proxy, fault: ScheduledFault) -> None:
    proxy.toxics.add_all([NamedToxic.from_json(fault.words)])


async def _remove_toxic(proxy: Proxy, fault: ScheduledFault) -> None:
    proxy.toxics.remove(fault.words["name"])


async def _refuse(proxy: Proxy, _: ScheduledFault) -> None:
    await proxy.disable()


async def _listen_again(proxy: Proxy, _: ScheduledFault) -> None:
    await proxy.enable()


async def _reset(proxy: Proxy, _: ScheduledFault) -> None:
    proxy.reset_connections()


async def _nothing(proxy: Proxy, _: ScheduledFault) -> None:
    """Do nothing: a fault that happens once has no end."""


DEEDS = {
    "toxic": (_add_toxic, _remove_toxic),
    "refuse": (_refuse, _listen_again),
    "reset": (_reset, _nothing),
}

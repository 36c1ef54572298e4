"""Private brokers that run on for the next row that needs one with the same settings.

A row that returns a broker leaves no connection to it, and names on it that no other run uses.
The pool does not give out a broker that has ended, or a cluster that is not whole.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from harness.proxies.event import Event, Listener
from harness.targets.target import Target

IDLE_NODES = 3
"""The number of nodes that may wait: those of an idle cluster exchange heartbeats and fetches."""


@dataclass(slots=True)
class RowBroker:
    """A running broker or cluster; events of its links go to its present listener."""

    target: Target
    key: Hashable
    listener: Listener | None = None
    is_spoiled: bool = False
    """True if it may be harmed in a way that cannot be seen from outside."""

    def forward(self, event: Event) -> None:
        """Listener of the links, which keep it for all their life."""
        if self.listener is not None:
            self.listener(event)


@dataclass(slots=True)
class RowBrokers:
    """The waiting brokers, by their settings; the one that waited longest ends first.

    The last one that was given back always waits, however many nodes it has.
    """

    _idle: OrderedDict[int, RowBroker] = field(default_factory=OrderedDict)

    def take(self, key: Hashable) -> RowBroker | None:
        """A live broker that waited with these settings, or None; the caller gives it back."""
        for number, one in list(self._idle.items()):
            if one.key == key:
                del self._idle[number]
                if one.target.is_alive():
                    return one
                one.target.stop()
        return None

    def give_back(self, one: RowBroker, is_well: Callable[[Target], bool]) -> None:
        """Let the broker wait from now on, or end it if it has come to harm."""
        one.listener = None
        if one.is_spoiled or not (one.target.is_alive() and is_well(one.target)):
            one.target.stop()
            return
        self._idle[id(one)] = one
        while len(self._idle) > 1 and self._idle_nodes() > IDLE_NODES:
            _, longest = self._idle.popitem(last=False)
            longest.target.stop()

    def _idle_nodes(self) -> int:
        return sum(max(len(one.target.nodes), 1) for one in self._idle.values())

    def stop(self) -> None:
        """End all that wait; a second call does nothing."""
        while self._idle:
            _, one = self._idle.popitem()
            one.target.stop()

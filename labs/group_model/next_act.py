"""The next request of a client that follows the protocol."""

from __future__ import annotations

from collections.abc import Iterator

from labs.group_model.knowledge import Actor
from labs.group_model.steps import ACTORS, Act, AllBehave, Behave, Gather, Heartbeat, Join, Sync

_UNTIL_STABLE = 3
"""Rounds in which all clients notice a rebalance, join, and sync."""


def parts(act: Gather | AllBehave) -> Iterator[Act]:
    """Yield the single steps of a compound step."""
    if isinstance(act, Gather):
        for place in range(act.size):
            instance = f"i-{place}" if act.static[place] else ""
            yield Join(act.version, place, mortal=act.mortal[place], instance=instance)
            yield Behave(act.version, place, only_members=True)
        yield AllBehave(act.version, _UNTIL_STABLE)
        return
    for place in list(range(ACTORS)) * act.rounds:
        yield Behave(act.version, place, only_members=True)


def next_act(actor: Actor, version: int) -> Act:
    """A join until it knows a generation, then a sync, then heartbeats.

    A static member shows its instance id again, as far as the version of the request can.
    """
    if actor.joined:
        return Sync(version, actor.place)
    if actor.synced:
        return Heartbeat(version, actor.place)
    return Join(version, actor.place, mortal=actor.mortal)

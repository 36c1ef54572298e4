"""Plays steps at both brokers, repeats them after different free choices, and counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from labs.group_model.difference import GroupsDiffer, LeaderIsFree, ProtocolIsFree, Stalled
from labs.group_model.group_side import Server
from labs.group_model.play import DEADLINE_S, GroupPlay
from labs.group_model.steps import Act

PREFIX = "kc-groups"
MOST_TRIES = 12
"""The most plays of the same steps, until both brokers choose the same leader, in time."""


class LongEnough(BaseException):
    """The limit of time for shrinking a difference; no Exception, so that nothing catches it."""


@dataclass(slots=True)
class ShrunkDifference:
    """Differences, one after the other while it is tried to show them by fewer requests.

    ``shrinking_s``: so long from the first one on.
    """

    shrinking_s: float
    least: str | None = None
    requests: int = 0
    times: int = 0
    _until: float = 0.0

    def add(self, told: GroupsDiffer, requests: int) -> None:
        """One more."""
        if self.least is None:
            self._until = time.monotonic() + self.shrinking_s
        if self.least is None or requests <= self.requests:
            self.least, self.requests = str(told), requests
        self.times += 1

    def check(self) -> None:
        """Raises LongEnough."""
        if self.least is not None and time.monotonic() > self._until:
            raise LongEnough


@dataclass(slots=True)
class PlayCounts:
    """Counts of plays and their contents."""

    plays: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    states: Counter[tuple[str, int]] = field(default_factory=Counter)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    replays: int = 0
    expired: int = 0
    deadlines: int = 0

    def add(self, play: GroupPlay) -> None:
        """Add the counts of one play."""
        self.requests.update((one.step.api, one.step.version) for one in play.asked.values())
        self.states.update(play.states)
        self.errors.update(play.errors)
        self.expired += play.expired
        self.deadlines += play.deadlines


@dataclass(slots=True)
class Arena:
    """Two brokers with the counts and differences of all plays."""

    servers: tuple[Server, Server]
    deadline_s: float = DEADLINE_S
    counts: PlayCounts = field(default_factory=PlayCounts)
    found: ShrunkDifference = field(default_factory=lambda: ShrunkDifference(0.0))

    def play(self) -> GroupPlay:
        """A fresh group."""
        return GroupPlay(self.servers, PREFIX, self.deadline_s)


class GroupPlaying:
    """One example. Raises GroupsDiffer; the caller must call ``end`` in any case."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._acts: list[Act] = []
        self._given_up = False
        self._play = arena.play()
        arena.counts.plays += 1

    def do(self, act: Act) -> None:
        """Do the next step; nothing once the example was given up."""
        if self._given_up:
            return
        self._acts.append(act)
        self._arena.counts.steps[type(act).__name__] += 1
        self._until_they_choose_alike(lambda: self._play.do(act))

    def rest(self) -> None:
        """Check that requests that wait in the end wait at both brokers."""
        if not self._given_up:
            self._until_they_choose_alike(self._play.rest)

    def end(self) -> None:
        """Count the play and close it."""
        self._arena.counts.add(self._play)
        self._play.close()

    def _until_they_choose_alike(self, go_on: Callable[[], None]) -> None:
        for _ in range(MOST_TRIES):
            try:
                go_on()
            except (LeaderIsFree, Stalled):
                go_on = self._again
            except GroupsDiffer as told:
                self._arena.found.add(told, len(self._play.asked))
                raise
            except ProtocolIsFree:
                return self._give_up("the protocol was a free choice")
            else:
                return None
        return self._give_up("the leader was a free choice, or this machine stalled")

    def _again(self) -> None:
        """Repeat all steps so far in a new group."""
        self._arena.counts.replays += 1
        self.end()
        self._play = self._arena.play()
        for act in self._acts:
            self._play.do(act)

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        self._arena.counts.given_up[reason] += 1

"""Conversations with a target and the specification that go on after restarts of both."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from harness.base.own_names import case_prefix, new_nonce
from harness.differential.comparison import BEHIND_NOW_MS
from harness.differential.difference import Difference, differences
from harness.differential.explained import judged, load_explained
from harness.differential.player import How, PlayedAnswer, Player
from harness.differential.symbols import Bindings
from harness.oracle.difference_text import head_of
from harness.oracle.parted_conversation import BrokerEnd, PartedConversation

CLIENT_ID = "specification-restarts"
"""Of the requests."""
_ROUNDS = 4
"""At most so many times a conversation with a difference is made smaller, a few restarts each."""
_CANDIDATES = 3
"""At most so many conversations are played again, if those before them differed by chance."""


class RestartableBroker(Protocol):
    """A broker with data that outlives its process."""

    def stop(self) -> None: ...

    def kill(self) -> None: ...

    def start(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RestartedSide:
    """One broker of a comparison: the player of conversations with it, and its restarts."""

    player: Player
    broker: RestartableBroker

    def play(
        self, conversations: Sequence[PartedConversation], names: Sequence[str], base_ms: int,
        *, patient: bool,
    ) -> list[list[PlayedAnswer]]:  # fmt: skip
        """Return the answers of each conversation; all of them have the same restarts."""
        bounds = [Bindings(name, base_ms) for name in names]
        answers: list[list[PlayedAnswer]] = [[] for _ in conversations]
        for number in range(max(one.restarts for one in conversations) + 1):
            if number:
                self._restart(conversations[0].ends[number - 1])
            for place, one in enumerate(conversations):
                part = one.parts[number]
                answers[place] += self.player.converse(part, bounds[place], patient=patient)
        for bound in bounds:
            self.player.clean(bound)
        return answers

    def _restart(self, end: BrokerEnd) -> None:
        (self.broker.kill if end is BrokerEnd.KILL else self.broker.stop)()
        self.broker.start()
        self.player.meet_again()


@dataclass(frozen=True, slots=True)
class RestartDifference:
    """A difference, and the conversation that shows it.

    ``repeats`` False: it was not seen again.
    """

    conversation: PartedConversation
    difference: Difference
    repeats: bool

    @property
    def is_after_restart(self) -> bool:
        """True if the broker was restarted before the different response."""
        return self.conversation.part_of(self.difference.step) > 0

    @property
    def is_silence(self) -> bool:
        """True if one of the brokers did not respond in time."""
        return How.SILENT in self.difference.values

    def is_alike(self, other: RestartDifference) -> bool:
        """True if both are after a restart, in the same field of the same API."""
        alike = self.difference.kind == other.difference.kind
        return alike and self.is_after_restart and other.is_after_restart


class RestartedConversations:
    """A target beside its specification. Use as a context manager.

    Attributes:
        specs: of the specification and of the target.
    """

    def __init__(self, sides: tuple[RestartedSide, RestartedSide], prefix: str) -> None:
        """``prefix``: begins all names; the players delete what begins with it."""
        self._sides, self._prefix = sides, prefix
        self.specs = tuple(side.player.spec for side in sides)
        self._nonce, self._plays = new_nonce(), 0
        self._stack = ExitStack()
        self._threads = ThreadPoolExecutor(max_workers=len(sides))

    def __enter__(self) -> RestartedConversations:
        self._stack.callback(self._threads.shutdown)
        for side in self._sides:
            self._stack.enter_context(side.player)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def first_difference(
        self, conversations: Sequence[PartedConversation]
    ) -> RestartDifference | None:
        """Return the first difference after a restart, shrunk; None without any difference.

        Without one that repeats: one that does not, or one before the first restart. After a slow
        response before the restart all are played again: it changes what follows.
        """
        found = self._differences(conversations)
        if any(one is not None and one.is_silence and not one.is_after_restart for one in found):
            found = self._differences(conversations, patient=True)
        late = [one for one in found if one is not None and one.is_after_restart]
        unrepeated = None
        for one in late[:_CANDIDATES]:
            again = self._confirmed(one)
            if again is not None:
                return again
            if not one.is_silence:  # else it was slow, not wrong
                unrepeated = unrepeated or one
        early = (one for one in found if one is not None and not one.is_after_restart)
        return unrepeated or next(early, None)

    def _confirmed(self, seen: RestartDifference) -> RestartDifference | None:
        """Play a conversation again, with parts of it; return the smallest that differs alike."""
        whole = seen.conversation.until(seen.difference.step)
        best = replace(seen, conversation=whole)
        guesses: list[PartedConversation] = []
        for _ in range(_ROUNDS):
            places = best.conversation.smaller()
            smaller = [best.conversation.without(one) for one in places]
            tried = [best.conversation, *guesses, *smaller]
            alike = [
                one if one is not None and one.is_alike(seen) else None
                for one in self._differences(tried, patient=True)
            ]
            shown = [one for one in alike if one is not None]
            if not shown:
                break
            spare = [
                at for at, one in zip(places, alike[len(tried) - len(places) :], strict=True) if one
            ]
            least_size = min((len(at) for at in spare), default=0)
            unneeded = {place for at in spare if len(at) <= least_size for place in at}
            guesses = [best.conversation.without(unneeded)]
            least = min(shown, key=lambda one: len(one.conversation.steps))
            best = RestartDifference(
                least.conversation.until(least.difference.step), least.difference, repeats=True
            )
            if not unneeded:
                break
        return best if best.repeats else None

    def _differences(
        self, conversations: Sequence[PartedConversation], *, patient: bool = False
    ) -> list[RestartDifference | None]:
        """Play them at both brokers; return the first difference of each that is not explained."""
        self._plays += 1
        base = f"{case_prefix(self._prefix, self._nonce, 'diff')}-{self._plays}"
        names = [f"{base}-{number}" for number in range(len(conversations))]
        base_ms = int(time.time() * 1000) - BEHIND_NOW_MS
        playing = [
            self._threads.submit(side.play, conversations, names, base_ms, patient=patient)
            for side in self._sides
        ]
        one, other = [each.result() for each in playing]
        return [self._first(*each) for each in zip(conversations, one, other, strict=True)]

    def _first(
        self,
        conversation: PartedConversation,
        one: Sequence[PlayedAnswer],
        other: Sequence[PlayedAnswer],
    ) -> RestartDifference | None:
        steps = conversation.steps
        told = differences(steps, one, other)
        verdict = judged(told, load_explained(), steps, self.specs, Counter())
        if verdict.found is None:
            return None
        return RestartDifference(conversation, verdict.found, repeats=False)


def text_of_restart(found: RestartDifference, specs: Sequence[str]) -> str:
    """Return a difference with the conversation that shows it."""
    return "\n".join([head_of(found.difference, specs), *found.conversation.lines()])

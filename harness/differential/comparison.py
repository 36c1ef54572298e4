"""Comparison of conversations played at two brokers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.base.own_names import case_prefix, new_nonce
from harness.client.errors import ConnectionClosed
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.difference import Difference, differences
from harness.differential.explained import Explained, judged, load_explained
from harness.differential.player import How, PlayedAnswer
from harness.differential.shrinking import PLAYS, shrink

BEHIND_NOW_MS = 60_000
_REPEATS, _CONFIRMATIONS = 3, 5
Seen = tuple[Difference, tuple[PlayedAnswer, PlayedAnswer]]
"""A difference, and the answers that differ."""


class ComparedSide(Protocol):
    """One side of a comparison: a broker, or its recorded responses. ``spec``: as a target's."""

    @property
    def spec(self) -> str: ...

    def play(
        self, conversation: Conversation, prefix: str, base_ms: int, *, patient: bool = False
    ) -> list[PlayedAnswer]:
        """Return one answer per step; see `Player.play`."""
        ...


@dataclass(frozen=True, slots=True)
class FoundDifference:
    """A difference, and the conversation that shows it.

    ``repeats`` False: a second play of the same conversation did not show the difference; then
    ``conversation`` is the whole one. ``answers`` are those of the last play that showed it.
    """

    conversation: Conversation
    difference: Difference
    answers: tuple[PlayedAnswer, PlayedAnswer]
    repeats: bool


@dataclass(slots=True)
class ComparedCounts:
    """Counts of compared exchanges by API and version, and of reasons of explained differences."""

    exchanges: Counter[tuple[str, int]] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    conversations: int = 0


class ConversationComparison:
    """Two brokers, and the plays of conversations at both.

    ``plays``: the most plays that make a conversation with a difference smaller.
    """

    def __init__(
        self,
        players: tuple[ComparedSide, ComparedSide],
        prefix: str,
        explained: Sequence[Explained] | None = None,
        plays: int = PLAYS,
    ) -> None:
        self.players, self.prefix, self._most_plays = players, prefix, plays
        self.specs = tuple(player.spec for player in players)
        self.explained = load_explained() if explained is None else explained
        self.counted = ComparedCounts()
        self._nonce, self._plays = new_nonce(), 0
        self._known: set[tuple[str, str]] = set()
        self._threads = ThreadPoolExecutor(max_workers=2)

    def close(self) -> None:
        self._threads.shutdown()

    def play(
        self, conversation: Conversation, *, patient: bool = False
    ) -> tuple[list[PlayedAnswer], list[PlayedAnswer]]:
        """Play at both brokers at the same time, with names that were never used."""
        self._plays += 1
        name = f"{case_prefix(self.prefix, self._nonce, 'diff')}-{self._plays}"
        base_ms = int(time.time() * 1000) - BEHIND_NOW_MS
        one, other = [
            self._threads.submit(player.play, conversation, name, base_ms, patient=patient)
            for player in self.players
        ]
        return one.result(), other.result()

    def forget_kinds(self) -> None:
        """Let `compare` return differences of every kind again."""
        self._known.clear()

    def forget_kind(self, kind: tuple[str, str]) -> None:
        """Let `compare` return differences of this kind again."""
        self._known.discard(kind)

    def compare(self, conversation: Conversation) -> FoundDifference | None:
        """Play a conversation and shrink it if there is a difference.

        Return None without a difference, and for a difference of a kind that was found before.
        Raises ConnectionClosed if a broker cannot be reached.
        """
        seen = self._differs(conversation, first=True)
        if seen is None or seen[0].kind in self._known:
            return None
        self._known.add(seen[0].kind)
        try:
            return self._repeated(conversation, seen)
        except ConnectionClosed:  # the conversation has ended a broker
            played = conversation.with_steps(conversation.steps[: seen[0].step + 1])
            return FoundDifference(played, *seen, repeats=True)

    def _repeated(self, conversation: Conversation, seen: Seen) -> FoundDifference:
        for _ in range(_REPEATS):
            again = self._differs(conversation)
            if again is not None and again[0].kind == seen[0].kind:
                return self._shrunk(conversation, again)
        return FoundDifference(conversation, *seen, repeats=False)

    def compare_once(self, conversation: Conversation) -> FoundDifference | None:
        """Play it as it is."""
        seen = self._differs(conversation, first=True)
        return None if seen is None else FoundDifference(conversation, *seen, repeats=True)

    def _differs(self, conversation: Conversation, *, first: bool = False) -> Seen | None:
        """Return the first difference that is not explained. Only a first play is counted.

        A broker that did not answer may have been slow: then the conversation is played again with
        more patience.
        """
        seen = self._difference(conversation, self.counted if first else ComparedCounts())
        if seen is not None and How.SILENT in seen[0].values:
            return self._difference(conversation, ComparedCounts(), patient=True)
        return seen

    def _difference(
        self, conversation: Conversation, counted: ComparedCounts, *, patient: bool = False
    ) -> Seen | None:
        one, other = self.play(conversation, patient=patient)
        steps = conversation.steps
        told = differences(steps, one, other)
        verdict = judged(told, self.explained, steps, self.specs, counted.explained)
        counted.conversations += 1
        counted.exchanges.update((step.api, step.version) for step in steps[: verdict.compared])
        found = verdict.found
        return None if found is None else (found, (one[found.step], other[found.step]))

    def _shrunk(self, conversation: Conversation, seen: Seen) -> FoundDifference:
        last = seen[0].step + 1
        kind = seen[0].kind

        def same(steps: Sequence[ConversationStep]) -> bool:
            found = self._difference(conversation.with_steps(steps), ComparedCounts())
            return found is not None and found[0].kind == kind

        cut = conversation.steps[:last]
        least = conversation.with_steps(shrink(cut, same, self._most_plays))
        for tried in (least, conversation.with_steps(cut)):
            again = self._in_each_play(tried, kind)
            if again is not None:
                return FoundDifference(tried, *again, repeats=True)
        return FoundDifference(conversation, *seen, repeats=False)

    def _in_each_play(self, conversation: Conversation, kind: tuple[str, str]) -> Seen | None:
        """Return the difference if several plays show one of this kind, else None.

        Other traffic at a broker may change one response: a deleted topic takes the empty groups
        of others with it (Kafka up to 3.9, class GroupCoordinator).
        """
        seen: Seen | None = None
        for _ in range(_CONFIRMATIONS):
            seen = self._differs(conversation)
            if seen is None or seen[0].kind != kind:
                return None
        return seen


def compare_many(
    comparison: ConversationComparison,
    conversations: Iterator[Conversation],
    exchanges: int,
    most: int,
    tell: Callable[[ComparedCounts, FoundDifference | None], Any],
) -> list[FoundDifference]:
    """Compare conversations up to a number of exchanges or ``most`` kinds of differences.

    ``tell`` is called after each conversation, with the difference found in it, or None.
    """
    found: list[FoundDifference] = []
    counted = comparison.counted
    while counted.exchanges.total() < exchanges and len(found) < most:
        one = comparison.compare(next(conversations))
        found += [one] if one is not None else []
        tell(counted, one)
    return found

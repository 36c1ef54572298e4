"""Conversations that go on after restarts of the broker, as plain values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from harness.differential.conversation import ConversationStep
from harness.reference_broker.emulated_release import EmulatedRelease


class BrokerEnd(StrEnum):
    """The end of a broker before it is started again."""

    STOP = "stop"
    KILL = "kill"


def is_before_4_0(like: str) -> bool:
    """True for a release before 4.0; empty: the newest."""
    return bool(like) and not EmulatedRelease.of(like).since(4, 0)


def ends_like(like: str) -> tuple[BrokerEnd, ...]:
    """Return the ends, in order, for brokers like a release; empty: the newest.

    Before 4.0 a controller that is started again either fences a broker that was killed before it
    registers, or it does not: a race, and only the former begins new leader epochs
    (``BrokerHeartbeatManager.register``, ``MetadataVersion.isElrSupported``). So these only stop.
    """
    return (BrokerEnd.STOP, BrokerEnd.STOP if is_before_4_0(like) else BrokerEnd.KILL)


@dataclass(frozen=True, slots=True)
class PartedConversation:
    """Steps, and the restarts between them.

    Attributes:
        origin: the seed, and the number of the conversation.
        parts: the steps before the first restart, then those after each restart.
        ends: how the broker ends before each restart.
    """

    origin: str
    parts: tuple[tuple[ConversationStep, ...], ...]
    ends: tuple[BrokerEnd, ...]

    @property
    def steps(self) -> tuple[ConversationStep, ...]:
        """All steps, in order."""
        return tuple(step for part in self.parts for step in part)

    @property
    def restarts(self) -> int:
        """The number of restarts before the last step."""
        return max((number for number, part in enumerate(self.parts) if part), default=0)

    def part_of(self, place: int) -> int:
        """Return the number of the part with this step."""
        left = place
        for number, part in enumerate(self.parts):
            if left < len(part):
                return number
            left -= len(part)
        raise IndexError(place)

    def without(self, places: Collection[int]) -> PartedConversation:
        """Return the conversation without these steps; the restarts stay."""
        numbered = iter(range(len(self.steps)))
        parts = tuple(
            tuple(step for step in part if next(numbered) not in places) for part in self.parts
        )
        return PartedConversation(self.origin, parts, self.ends)

    def until(self, place: int) -> PartedConversation:
        """Return the steps up to this one."""
        return self.without(range(place + 1, len(self.steps)))

    def smaller(self) -> list[tuple[int, ...]]:
        """Return places of steps to leave out: halves, quarters and eighths.

        The last step stays: it shows the difference.
        """
        places = range(len(self.steps) - 1)
        sizes = dict.fromkeys(max(1, len(places) // share) for share in (2, 4, 8))
        return [tuple(places[start : start + size]) for size in sizes for start in places[::size]]

    def lines(self) -> list[str]:
        """Return a line a step, and a line a restart."""
        told = []
        place = 0
        for number, part in enumerate(self.parts[: self.restarts + 1]):
            told += [f"  {self.ends[number - 1]} and restart"] if number else []
            told += [f"  {at}  {step}" for at, step in enumerate(part, place)]
            place += len(part)
        return told

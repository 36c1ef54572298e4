"""One damage to one copy of one log, as it is drawn: the same for every broker."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from harness.codec.data_framing import PartitionMetadata, partition_metadata_bytes
from harness.codec.data_framing.log_folder import PARTITION_METADATA
from harness.codec.definition import ZERO_UUID
from labs.recovery.log_copy import LogCopy, copy_of
from labs.recovery.observing import ReadQuestion
from labs.recovery.source import LogSource
from labs.recovery.writer import BATCH_MS

LEAST_OF_A_KIND = 4
"""In a sample, where so many were drawn."""


class Damage(NamedTuple):
    """``says``: the damage in words; ``offset``: of the first damaged record, None without one."""

    says: str
    offset: int | None = None


Damaging = Callable[[LogCopy, random.Random, int], Damage]
"""Damages the copy.

Random choices come from the generator. The turn, the number of earlier cases of this kind, selects
one place after the other.
"""


@dataclass(frozen=True, slots=True)
class KindOfDamage:
    """A kind of damage.

    Attributes:
        share: the number of its cases for each case of a kind with share 1.
        fits: True if a log has the part to be damaged.
        alone: True if it affects more than this partition, or keeps a broker from starting.
    """

    name: str
    damaging: Damaging
    share: int = 2
    fits: Callable[[LogCopy], bool] = lambda copy: True
    alone: bool = False


@dataclass(frozen=True, slots=True)
class DamageCase:
    """``clean``: the marker of a clean shutdown is there. ``turn``: as in :data:`Damaging`."""

    number: int
    seed: int
    kind: KindOfDamage
    source: LogSource
    clean: bool
    from_zero: bool
    turn: int

    def make(self, to: Path, topic_id: UUID) -> tuple[LogCopy, Damage]:
        """The damaged copy at ``to``, the same every time, as a partition of this topic."""
        copy = copy_of(self.source.folder, self.source.notes, to)
        if topic_id != ZERO_UUID:
            metadata = PartitionMetadata(0, topic_id)
            (to / PARTITION_METADATA).write_bytes(partition_metadata_bytes(metadata))
        if self.from_zero:
            copy.note(recovery_point=0)
        rng = random.Random(f"{self.seed}-{self.number}")
        return copy, self.kind.damaging(copy, rng, self.turn)

    @property
    def question(self) -> ReadQuestion:
        end, first = self.source.end_offset, self.source.time_ms
        return ReadQuestion(
            offsets=[end * share // 7 for share in range(1, 7)] + [end - 1],
            times_ms=[first + BATCH_MS * batch + 1 for batch in (1, 6, 11, 16, 21, 26)],
            epochs=range(self.source.last_epoch + 1),
        )

    def __str__(self) -> str:
        marker = "marker" if self.clean else "no marker"
        point = ", recovery point 0" if self.from_zero else ""
        return f"case {self.number} ({self.kind.name}; {self.source.name}, {marker}{point})"


def draw(
    kinds: Sequence[KindOfDamage], sources: Sequence[LogSource], count: int, seed: int
) -> list[DamageCase]:
    """So many cases: kinds by their shares, the rest by chance; a later one does not depend on how
    many there are."""
    deck = [kind for kind in kinds for _ in range(kind.share)]
    rng = random.Random(seed)
    turns: dict[str, int] = {}
    cases: list[DamageCase] = []
    hand: list[KindOfDamage] = []
    while len(cases) < count:
        if not hand:
            hand = rng.sample(deck, len(deck))
        kind = hand.pop()
        fitting = [one for one in sources if kind.fits(LogCopy(one.folder, one.notes))]
        drawn = rng.random(), rng.random(), rng.random()
        if not fitting:
            continue
        source = fitting[int(drawn[0] * len(fitting))]
        turn = turns[kind.name] = turns.get(kind.name, -1) + 1
        cases.append(
            DamageCase(len(cases) + 1, seed, kind, source, drawn[1] < 0.3, drawn[2] < 0.5, turn)
        )
    return cases


def sample(cases: Sequence[DamageCase], count: int) -> list[DamageCase]:
    """So many of them: of each kind some first, then by their shares, all that come far apart, so
    that what goes by turns is gone through."""
    by_kind: dict[str, list[DamageCase]] = {}
    for case in cases:
        by_kind.setdefault(case.kind.name, []).append(case)
    ranked = [
        ((rank >= LEAST_OF_A_KIND, rank / len(alike)), alike[place])
        for alike in by_kind.values()
        for rank, place in enumerate(_far_apart(len(alike)))
    ]
    ranked.sort(key=lambda one: (one[0], one[1].number))
    return sorted((case for _, case in ranked[:count]), key=lambda case: case.number)


def _far_apart(count: int) -> list[int]:
    """The places of so many, each as far as can be from those before it: by their bits backwards
    (van der Corput)."""
    bits = max(count - 1, 1).bit_length()
    return sorted(range(count), key=lambda place: f"{place:0{bits}b}"[::-1])


def rounds(cases: Sequence[DamageCase], most: int) -> list[list[DamageCase]]:
    """Return the cases that are started together: those with the same marker, at most ``most``.

    A case of a kind with ``alone`` is started alone.
    """
    found = [[case] for case in cases if case.kind.alone]
    for clean in (False, True):
        group = [case for case in cases if case.clean is clean and not case.kind.alone]
        found += [group[start : start + most] for start in range(0, len(group), most)]
    return found

"""The same cases at two brokers at once: most of the time goes into starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.codec.definition import ZERO_UUID
from labs.recovery.case import Damage, DamageCase, draw, rounds, sample
from labs.recovery.comparison import ComparedCopies, difference_of, read_reasons, reason_for
from labs.recovery.damages import KINDS
from labs.recovery.observing import Outcome
from labs.recovery.recovery_side import MOST_PARTITIONS, RecoverySide
from labs.recovery.source import LogSource, write_sources


@dataclass(frozen=True, slots=True)
class Compare:
    """``damages``: how many are drawn, or taken of so ``many`` as are drawn, see
    :func:`labs.recovery.case.sample`; ``numbers`` and ``kinds`` take some of these, or all when
    they are empty. ``old``: see :data:`labs.recovery.source.OLD_SCRIPTS`."""

    damages: int
    seed: int
    sides: tuple[str, str]
    numbers: Sequence[int] = ()
    kinds: Sequence[str] = ()
    old: bool = False
    many: int = 0

    def cases(self, sources: Sequence[LogSource]) -> list[DamageCase]:
        drawn = draw(KINDS, sources, max(self.damages, self.many), self.seed)
        return [
            case
            for case in sample(drawn, self.damages)
            if (not self.numbers or case.number in self.numbers)
            and (not self.kinds or any(part in case.kind.name for part in self.kinds))
        ]


@dataclass(frozen=True, slots=True)
class RecoveryRun:
    """``starts``: how often each broker was started on damaged copies."""

    compared: list[ComparedCopies]
    starts: tuple[int, int]


def run(wanted: Compare, place: Path, tell: Callable[[str], None]) -> RecoveryRun:
    """``place``: an empty folder. Raises TargetError, MissingCapability, BrokerMisbehaved."""
    sources = write_sources(place / "sources", wanted.seed, old=wanted.old)
    cases = wanted.cases(sources)
    last_epoch = max(source.last_epoch for source in sources)
    tell(f"{len(cases)} cases of {len(sources)} logs")
    together = max(map(len, rounds(cases, MOST_PARTITIONS)), default=1)

    def observe(number: int) -> tuple[dict[int, Outcome], int]:
        spec = wanted.sides[number]
        with RecoverySide(spec, place / f"side-{number}", last_epoch, together) as side:
            seen = {case.number: outcome for case, outcome in side.outcomes(cases)}
        tell(f"{spec}: {side.starts} starts")
        return seen, side.starts

    with ThreadPoolExecutor(len(wanted.sides)) as at_once:
        (left, left_starts), (right, right_starts) = at_once.map(observe, (0, 1))
    reasons, compared = read_reasons(), []
    for case in cases:
        one, other = left[case.number], right[case.number]
        damage = _damage(case, place)
        outcomes = dict(zip(wanted.sides, (one, other), strict=True))
        reason = reason_for(difference_of(case, damage, outcomes), reasons)
        compared.append(ComparedCopies(case, damage, one, other, reason))
    return RecoveryRun(compared, (left_starts, right_starts))


def _damage(case: DamageCase, place: Path) -> Damage:
    """In words: made once more."""
    folder = place / "again"
    _, damage = case.make(folder, ZERO_UUID)
    shutil.rmtree(folder)
    return damage

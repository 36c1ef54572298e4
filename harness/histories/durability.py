"""Losses in a crash, judged on a finished history against the losses that are allowed.

The history has sends and polls, one or more kills or power failures (``fault``), and a read of the
whole log at the end. Pure and total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome

Place = tuple[int, int]
"""Partition and offset."""
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Allowance:
    """Losses that a crash may cause in one producer's partitions.

    Attributes:
        records: number of acknowledged records, in each partition.
        why: the setting or rule that allows it.
    """

    records: float = 0
    why: str = ""


NOTHING = Allowance()


@dataclass(slots=True)
class Survival:
    """The fate of the records; lists have the operations that prove it.

    "There" means in the log at the end.

    Attributes:
        acknowledged: number of acknowledged records.
        unknown: number of sends with unknown outcome.
        kept: how many of the unknown are there.
        lost: acknowledged, and not there.
        seen_and_lost: polled by a consumer, and not there.
        holes: lost or never written, with a record behind it that was known before the crash.
        duplicated: there more than once.
        reordered: of two acknowledged ones of a partition the one sent later stands first.
        moved: acknowledged, and there at another offset.
        reused: its acknowledged or polled offset has another record, though the producer may lose
            nothing.
        garbage: there, or polled by a consumer, and never sent to this partition.
        refused: there, though its send surely failed.
        skipped: polled by a consumer that did not poll the offset before it.
    """

    acknowledged: int = 0
    unknown: int = 0
    kept: int = 0
    lost: list[ClientOperation] = field(default_factory=list)
    seen_and_lost: list[ClientOperation] = field(default_factory=list)
    holes: list[ClientOperation] = field(default_factory=list)
    duplicated: list[ClientOperation] = field(default_factory=list)
    reordered: list[ClientOperation] = field(default_factory=list)
    moved: list[ClientOperation] = field(default_factory=list)
    reused: list[ClientOperation] = field(default_factory=list)
    garbage: list[ClientOperation] = field(default_factory=list)
    refused: list[ClientOperation] = field(default_factory=list)
    skipped: list[ClientOperation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SurvivalVerdict:
    """``broken``: a sentence for each promise that does not hold, with its proof.

    ``allowed``: how many of the lost records might be.
    """

    survival: Survival
    allowed: int
    broken: tuple[str, ...]


class _Story:
    """A history, sorted by the records that its operations are about."""

    def __init__(self, history: Iterable[ClientOperation]) -> None:
        self.sent: dict[str, ClientOperation] = {}
        self.ended: dict[str, ClientOperation] = {}
        self.told: list[
            ClientOperation
        ] = []  # acknowledged or polled, in order, with their offsets
        self.before: list[ClientOperation] = []  # those of them before the last crash
        self.polled: list[ClientOperation] = []
        self.log: list[ClientOperation] = []
        for one in history:
            self._take(one)
        self.there: defaultdict[str, list[ClientOperation]] = defaultdict(list)
        for one in self.log:
            self.there[one.value].append(one)
        self.at: dict[Place, ClientOperation] = {
            (one.partition, one.offset): one for one in self.log
        }

    def _take(self, one: ClientOperation) -> None:
        ok = one.outcome is OperationOutcome.OK
        if one.action is ClientAction.SEND and one.outcome is OperationOutcome.INVOKE:
            self.sent[one.value] = one
        elif one.action is ClientAction.SEND:
            self.ended[one.value] = one
            if ok:
                self.told.append(one)
        elif one.action is ClientAction.POLL and ok:
            self.polled.append(one)
            self.told.append(one)
        elif one.action is ClientAction.FINAL_READ and ok and one.value:
            self.log.append(one)
        elif one.action is ClientAction.FAULT:
            self.before = list(self.told)

    def ended_as(self, outcome: OperationOutcome) -> list[ClientOperation]:
        """The ends of sends, in the order of the sends."""
        ends = (self.ended.get(value) for value in self.sent)
        return [end for end in ends if end is not None and end.outcome is outcome]


def survival_of(history: Iterable[ClientOperation], allowed: Mapping[str, Allowance]) -> Survival:
    """Return the fate of all records; ``allowed``: each producer that may lose records."""
    story = _Story(history)
    found = Survival()
    acknowledged = story.ended_as(OperationOutcome.OK)
    found.acknowledged = len(acknowledged)
    open_ = [value for value in story.sent if value not in story.ended]
    open_ += [end.value for end in story.ended_as(OperationOutcome.INFO)]
    found.unknown = len(open_)
    found.kept = sum(value in story.there for value in open_)
    found.lost = [one for one in acknowledged if one.value not in story.there]
    found.seen_and_lost = [one for one in story.polled if one.value not in story.there]
    found.refused = [
        one for one in story.ended_as(OperationOutcome.FAIL) if one.value in story.there
    ]
    found.holes = [*_holes(story, found.lost), *_gaps(story)]
    found.duplicated = [copies[0] for copies in story.there.values() if len(copies) > 1]
    found.reordered = list(_reordered(story, acknowledged))
    found.moved = [one for one in acknowledged if _moved(one, story)]
    found.garbage = [one for one in (*story.log, *story.polled) if _is_garbage(one, story)]
    found.skipped = list(_skipped(story.polled))
    found.reused = [one for one in story.told if _reused(one, story, allowed)]
    return found


def _holes(story: _Story, lost: Sequence[ClientOperation]) -> Iterable[ClientOperation]:
    """Return lost records before the last one that was known before the crash and is there."""
    last: dict[int, int] = {}
    for one in story.before:
        if one.value in story.there:
            last[one.partition] = max(one.offset, last.get(one.partition, -1))
    return (one for one in lost if one.offset < last.get(one.partition, -1))


def _gaps(story: _Story) -> Iterable[ClientOperation]:
    """Yield records that do not follow directly on the one before them."""
    for before, after in pairwise(story.log):
        if before.partition == after.partition and after.offset != before.offset + 1:
            yield after


def _reordered(story: _Story, acknowledged: Sequence[ClientOperation]) -> Iterable[ClientOperation]:
    highest: dict[int, int] = {}
    for one in acknowledged:
        if copies := story.there.get(one.value):
            offset = copies[0].offset
            if offset < highest.get(one.partition, -1):
                yield one
            highest[one.partition] = max(offset, highest.get(one.partition, -1))


def _skipped(polled: Iterable[ClientOperation]) -> Iterable[ClientOperation]:
    """Yield records that a consumer polled without the offset before them.

    It begins at offset 0; after the loss of a tail it goes back to the log's end.
    """
    last: dict[int, int] = {}
    for one in polled:
        if one.offset > last.get(one.partition, -1) + 1:
            yield one
        last[one.partition] = one.offset


def _moved(one: ClientOperation, story: _Story) -> bool:
    copies = story.there.get(one.value, [])
    return bool(copies) and one.offset >= 0 and one.offset not in {each.offset for each in copies}


def _is_garbage(one: ClientOperation, story: _Story) -> bool:
    sent = story.sent.get(one.value)
    return sent is None or sent.partition != one.partition


def _reused(one: ClientOperation, story: _Story, allowed: Mapping[str, Allowance]) -> bool:
    stands = story.at.get((one.partition, one.offset))
    sent = story.sent.get(one.value)
    if stands is None or stands.value == one.value or sent is None:
        return False
    return not allowed.get(sent.process, NOTHING).records


def judge(history: Sequence[ClientOperation], allowed: Mapping[str, Allowance]) -> SurvivalVerdict:
    """Return the verdict on a history; a producer that ``allowed`` lacks may lose nothing.

    Duplicates, holes, garbage and records in another order or place are never allowed: only
    idempotent producers repeat a send of unknown outcome.
    """
    survival = survival_of(history, allowed)
    beyond = list(_beyond(survival.lost, allowed))
    senders = {one.value: one.process for one in history if one.action is ClientAction.SEND}
    unseen = [one for one in survival.seen_and_lost if _owes(senders.get(one.value, ""), allowed)]
    found: tuple[tuple[str, list[ClientOperation]], ...] = (
        ("acknowledged records are lost", beyond),
        ("records that a consumer was given are lost", unseen),
        ("lost records, or nothing, stand before others that are there", survival.holes),
        ("records are there twice", survival.duplicated),
        ("records stand in another order than they were sent", survival.reordered),
        ("records are at another offset than the acknowledgement said", survival.moved),
        ("offsets were given to other records", survival.reused),
        ("records are there that no client sent", survival.garbage),
        ("records are there whose send failed", survival.refused),
        ("consumers were given a record and not the one before it", survival.skipped),
    )
    broken = tuple(_sentence(what, proof) for what, proof in found if proof)
    return SurvivalVerdict(survival, len(survival.lost) - len(beyond), broken)


def _owes(process: str, allowed: Mapping[str, Allowance]) -> bool:
    return not allowed.get(process, NOTHING).records


def _beyond(
    lost: Iterable[ClientOperation], allowed: Mapping[str, Allowance]
) -> Iterable[ClientOperation]:
    """Yield the lost records beyond the allowance: the first surplus ones of each partition."""
    by_place: defaultdict[tuple[str, int], list[ClientOperation]] = defaultdict(list)
    for one in lost:
        by_place[one.process, one.partition].append(one)
    for (process, _), each in by_place.items():
        may = allowed.get(process, NOTHING).records
        yield from each[: 0 if may == inf else max(0, len(each) - int(may))]


def _sentence(what: str, proof: Sequence[ClientOperation]) -> str:
    first = "; ".join(map(str, proof[:SHOWN]))
    return f"{len(proof)} {what}: {first}"


Count = Callable[[Survival], int]
COUNTS: dict[str, Count] = {
    "acknowledged": lambda s: s.acknowledged,
    "unknown": lambda s: s.unknown,
    "of them there": lambda s: s.kept,
    "lost": lambda s: len(s.lost),
    "seen and lost": lambda s: len(s.seen_and_lost),
    "holes": lambda s: len(s.holes),
    "duplicated": lambda s: len(s.duplicated),
    "reordered": lambda s: len(s.reordered),
    "moved": lambda s: len(s.moved),
    "reused": lambda s: len(s.reused),
    "garbage": lambda s: len(s.garbage),
    "skipped": lambda s: len(s.skipped),
}
"""The columns of a table, and how to count each."""

"""Observations of one partition's replication, step by step, and the invariants over all of them.

The invariants hold at every moment: a high watermark never goes back and is never above the offset
that all of the ISR have confirmed, a consumer reads nothing above it, an ISR contains its leader
and only replicas. Pure and total: any sequence gets an answer. The check assumes that observations
are in the order of their answers, one request at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

UNKNOWN = -1
METADATA_DELAY_MS = 1500
"""A leader may know of its smaller ISR this much earlier than the metadata of its own broker."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The content of one answer; a field that the answer does not have is -1, or None.

    Attributes:
        what: the step, in words.
        at_ms: since the scenario began.
        node: the broker that answered.
        partition: which one, as ``topic-0``.
        leader_epoch, high_watermark, last_stable_offset, log_start_offset, log_end_offset: offsets.
        isr: the ISR in the cluster's metadata; ``leader`` is returned with it.
        replica, confirmed: this replica has fetched from this offset, and the leader accepted it.
        read_to: one more than the last offset of the records that a consumer received.
        replicas: the assignment, returned with the ISR.
        client: the client that asked; the answers to one client are in the order of its requests.
    """

    what: str
    at_ms: float = 0.0
    node: int = UNKNOWN
    partition: str = ""
    leader: int = UNKNOWN
    leader_epoch: int = UNKNOWN
    high_watermark: int = UNKNOWN
    last_stable_offset: int = UNKNOWN
    log_start_offset: int = UNKNOWN
    log_end_offset: int = UNKNOWN
    isr: tuple[int, ...] | None = None
    replica: int = UNKNOWN
    confirmed: int = UNKNOWN
    read_to: int = UNKNOWN
    replicas: tuple[int, ...] | None = None
    client: str = ""


class Violation(StrEnum):
    """The promises, named by how they are broken."""

    WATERMARK_FELL = "the high watermark went back"
    WATERMARK_ABOVE_END = "the high watermark is above the log end"
    WATERMARK_UNCONFIRMED = "the high watermark is above what a member of the ISR has confirmed"
    END_FELL = "the log end went back"
    READ_ABOVE_WATERMARK = "a consumer was given a record above the high watermark"
    STABLE_ABOVE_WATERMARK = "the last stable offset is above the high watermark"
    START_ABOVE_WATERMARK = "the log start is above the high watermark"
    ISR_WITHOUT_LEADER = "the ISR lacks the leader"
    ISR_OF_STRANGERS = "the ISR has a member that is no replica"
    EPOCH_FELL = "the leader epoch went back"
    TWO_LEADERS = "two brokers lead in one epoch"
    JOINED_EARLY = "a replica joined the ISR below the high watermark"


@dataclass(frozen=True, slots=True)
class ReplicationFinding:
    """A promise that did not hold, and the observation that shows it."""

    broken: Violation
    seen: Observation
    detail: str

    def __str__(self) -> str:
        return f"{self.seen.what}: {self.broken}: {self.detail}"


def check_replication(
    seen: Iterable[Observation], replicas: Sequence[int]
) -> list[ReplicationFinding]:
    """Return all violations in the observations of one partition with these replicas, in order."""
    every = list(seen)
    return [*_check_offsets(every), *_check_members(every, replicas), *_check_confirmed(every)]


def _check_offsets(every: Sequence[Observation]) -> Iterator[ReplicationFinding]:
    """Check the offsets of one leader after the other; a leader's answers bind only itself."""
    watermark = end = epoch = UNKNOWN
    node = UNKNOWN
    for one in every:
        if one.node != node:
            node, watermark, end = one.node, UNKNOWN, UNKNOWN
        if one.log_end_offset != UNKNOWN:
            if one.log_end_offset < end:
                yield ReplicationFinding(
                    Violation.END_FELL, one, f"{end}, then {one.log_end_offset}"
                )
            end = max(end, one.log_end_offset)
            if one.log_end_offset < watermark:
                told = f"{watermark}, the log end is {one.log_end_offset}"
                yield ReplicationFinding(Violation.WATERMARK_ABOVE_END, one, told)
        if one.high_watermark != UNKNOWN:
            if one.high_watermark < watermark:
                yield ReplicationFinding(
                    Violation.WATERMARK_FELL, one, f"{watermark}, then {one.high_watermark}"
                )
            watermark = max(watermark, one.high_watermark)
            yield from _check_below(one)
        if one.leader_epoch != UNKNOWN:
            if one.leader_epoch < epoch:
                yield ReplicationFinding(
                    Violation.EPOCH_FELL, one, f"{epoch}, then {one.leader_epoch}"
                )
            epoch = max(epoch, one.leader_epoch)


def _check_below(one: Observation) -> Iterator[ReplicationFinding]:
    """Check the other offsets of an answer against its high watermark."""
    for broken, offset in (
        (Violation.READ_ABOVE_WATERMARK, one.read_to),
        (Violation.STABLE_ABOVE_WATERMARK, one.last_stable_offset),
        (Violation.START_ABOVE_WATERMARK, one.log_start_offset),
    ):
        if offset > one.high_watermark:
            yield ReplicationFinding(
                broken, one, f"{offset}, the high watermark is {one.high_watermark}"
            )


def _check_members(
    every: Sequence[Observation], replicas: Sequence[int]
) -> Iterator[ReplicationFinding]:
    confirmed: dict[int, int] = {}
    watermark = before = UNKNOWN  # before: as it was when the ISR was last seen
    last: tuple[int, ...] | None = None
    for one in every:
        if one.replica != UNKNOWN:
            confirmed[one.replica] = one.confirmed
        watermark = max(watermark, one.high_watermark)
        if one.isr is None:
            continue
        if one.leader != UNKNOWN and one.leader not in one.isr:
            yield ReplicationFinding(
                Violation.ISR_WITHOUT_LEADER, one, f"{one.leader} leads, ISR {one.isr}"
            )
        if strangers := set(one.isr) - set(replicas):
            yield ReplicationFinding(
                Violation.ISR_OF_STRANGERS, one, f"{sorted(strangers)} in {one.isr}"
            )
        for replica in set(one.isr) - set(one.isr if last is None else last):
            if replica in confirmed and confirmed[replica] < before:
                told = f"{replica} at {confirmed[replica]}, the high watermark was {before}"
                yield ReplicationFinding(Violation.JOINED_EARLY, one, told)
        last, before = one.isr, watermark


def _check_confirmed(every: Sequence[Observation]) -> Iterator[ReplicationFinding]:
    """Check high watermarks against the ISR observed before and the ISRs observed soon after.

    A leader commits a smaller ISR when the controller answers AlterPartition; the metadata of that
    ISR reach the same broker by another path and may be later (Partition.submitAlterPartition). So
    the high watermark must fit one of the ISRs observed until ``METADATA_DELAY_MS`` have passed.
    """
    confirmed: dict[int, int] = {}
    earlier: list[tuple[int, ...]] = []
    with_isr = [at for at, one in enumerate(every) if one.isr is not None]
    for at, one in enumerate(every):
        if one.replica != UNKNOWN:
            confirmed[one.replica] = max(one.confirmed, confirmed.get(one.replica, 0))
        if one.isr is not None:
            earlier = [one.isr]
        if one.high_watermark == UNKNOWN:
            continue
        isrs = (*earlier, *_isrs_soon_after(every, with_isr, at))
        limits = [_least(isr, one.node, confirmed) for isr in isrs]
        if limits and one.high_watermark > max(limits):
            told = f"{one.high_watermark}, confirmed are {confirmed}"
            yield ReplicationFinding(Violation.WATERMARK_UNCONFIRMED, one, told)


def _isrs_soon_after(
    every: Sequence[Observation], with_isr: Sequence[int], at: int
) -> Iterator[tuple[int, ...]]:
    """The next ISR observed, and those observed within the delay of metadata.

    ``with_isr``: the places of the observations with an ISR, so that each look is short.
    """
    first = bisect_left(with_isr, at)
    for place in with_isr[first : first + 1]:
        yield _isr_at(every, place)
    for number in range(first + 1, len(with_isr)):
        one = every[with_isr[number]]
        if one.at_ms > every[at].at_ms + METADATA_DELAY_MS:
            return
        yield _isr_at(every, with_isr[number])


def _isr_at(every: Sequence[Observation], place: int) -> tuple[int, ...]:
    isr = every[place].isr
    assert isr is not None
    return isr


def _least(isr: Iterable[int], leader: int, confirmed: dict[int, int]) -> float:
    """Return the offset that all members but the leader have confirmed; infinity without any."""
    return min((confirmed.get(one, 0) for one in isr if one != leader), default=float("inf"))

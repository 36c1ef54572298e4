"""The timeline T1 to T10: a leader with two followers, from the first produce to the last read.

R1 is the real broker and leads, R2 and R3 are virtual. The offsets in each row come from the text
that introduces Kafka's replication; the columns of the followers' responses come from the broker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import FetchedRecords, WatchedPartition

R2, R3 = "R2", "R3"


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """The state after one step.

    ``told``: the high watermarks of the last responses to R2 and R3, -1 before. ``records``: the
    offsets in the response of this very step.
    """

    step: str
    log_end: int
    confirmed: tuple[int, int]
    high_watermark: int
    listed: int
    told: tuple[int, int]
    records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """One step by R2, R3, the ``producer`` or the ``consumer``.

    ``at``: the offset of a fetch, or the number of produced records.
    """

    name: str
    who: str
    at: int

    def __str__(self) -> str:
        if self.who == PRODUCER:
            return f"{self.name} produce {self.at}"
        return f"{self.name} {self.who} fetch {self.at}"


PRODUCER, CONSUMER = "producer", "consumer"
STEPS = (
    TimelineStep("T1", PRODUCER, 3),
    TimelineStep("T2", R2, 0),
    TimelineStep("T3", R3, 0),
    TimelineStep("T4", CONSUMER, 0),
    TimelineStep("T5", R2, 3),
    TimelineStep("T6", R3, 3),
    TimelineStep("T7", PRODUCER, 2),
    TimelineStep("T8", R2, 3),
    TimelineStep("T9", R2, 5),
    TimelineStep("T10", CONSUMER, 0),
)
_FIRST, _MORE = (0, 1, 2), (3, 4)
EXPECTED = (
    TimelineRow("T1", 3, (0, 0), 0, 0, (-1, -1), ()),
    TimelineRow("T2", 3, (0, 0), 0, 0, (0, -1), _FIRST),
    TimelineRow("T3", 3, (0, 0), 0, 0, (0, 0), _FIRST),
    TimelineRow("T4", 3, (0, 0), 0, 0, (0, 0), ()),
    TimelineRow("T5", 3, (3, 0), 0, 0, (0, 0), ()),
    TimelineRow("T6", 3, (3, 3), 3, 3, (0, 0), ()),
    TimelineRow("T7", 5, (3, 3), 3, 3, (0, 0), ()),
    TimelineRow("T8", 5, (3, 3), 3, 3, (3, 0), _MORE),
    TimelineRow("T9", 5, (5, 3), 3, 3, (3, 0), ()),
    TimelineRow("T10", 5, (5, 3), 3, 3, (3, 0), _FIRST),
)
TOLD_AFTERWARDS = {"T6": (0, 3), "T7": (0, 3), "T8": (3, 3), "T9": (3, 3), "T10": (3, 3)}
"""The high watermarks of T6 to T10 in releases that respond with the one after the fetch itself."""
DATED = {
    "0.8.0": TOLD_AFTERWARDS,
    "0.8.1.1": TOLD_AFTERWARDS,
}
"""Releases of Apache Kafka with other high watermarks in their responses, by steps."""


def expected_of(release: str) -> tuple[TimelineRow, ...]:
    """Return the table that a release of Apache Kafka must show."""
    told = DATED.get(release, {})
    return tuple(replace(row, told=told.get(row.step, row.told)) for row in EXPECTED)


class Timeline:
    """The steps on one partition with two virtual followers."""

    def __init__(self, partition: WatchedPartition, followers: Sequence[Membership]) -> None:
        """``followers``: R2 and R3."""
        self.partition = partition
        self.followers = dict(zip((R2, R3), followers, strict=True))
        self.confirmed = {R2: 0, R3: 0}
        self.told = {R2: -1, R3: -1}

    def follow(self, who: str, offset: int) -> FetchedRecords:
        """Fetch as R2 or R3."""
        read = self.partition.follow(self.followers[who], offset)
        self.confirmed[who], self.told[who] = offset, read.high_watermark
        return read

    def step(self, step: TimelineStep) -> tuple[int, ...]:
        """Do a step; return the offsets of the records in its response."""
        if step.who == PRODUCER:
            self.partition.produce(step.at)
            return ()
        if step.who == CONSUMER:
            return self.partition.consume(step.at).offsets
        return self.follow(step.who, step.at).offsets

    def play(self, last: str) -> None:
        """Do the steps up to this one, except those of the consumer, which change nothing."""
        for step in STEPS:
            if step.who != CONSUMER:
                self.step(step)
            if step.name == last:
                return

    def rows(self) -> list[TimelineRow]:
        """Do all steps; return the state after each, as seen from outside."""
        return [self._row(step, self.step(step)) for step in STEPS]

    def _row(self, step: TimelineStep, records: tuple[int, ...]) -> TimelineRow:
        beside = self.partition.consume(0)
        return TimelineRow(
            step.name,
            self.partition.log_end(),
            (self.confirmed[R2], self.confirmed[R3]),
            beside.high_watermark,
            self.partition.latest(),
            (self.told[R2], self.told[R3]),
            records,
        )

"""Wrong transactions in the built-in broker: each of a kind that real brokers have had."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from harness.histories.judgement import Anomaly
from labs.defects.defect import WrongFunction
from labs.transaction_histories.run import APPENDS, TRANSFORMS

STATE = "harness.reference_broker.state"
TRANSACTIONS = f"{STATE}.transactions"
SELDOM = 5
"""One of so many goes wrong."""


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """``shows``: an anomaly that a run has within ``operations``, beside others it may have."""

    name: str
    meaning: str
    wrong: WrongFunction
    shows: Anomaly
    workload: str
    operations: int = 6000


def _seldom() -> Callable[[], bool]:
    """Return a function that is true for one call of some."""
    numbers = itertools.count(1)
    return lambda: next(numbers) % SELDOM == 0


def _lost_marker(right: Callable[..., Any]) -> Callable[..., Any]:
    strikes = _seldom()

    def settle_place(one: Any, place: Any, *rest: Any) -> Any:
        if len(one.left) > 1 and place not in one.written and strikes():
            one.left.discard(place)
            return ()
        return right(one, place, *rest)

    return settle_place


def _reversed_marker(right: Callable[..., Any]) -> Callable[..., Any]:
    strikes = _seldom()

    def append_marker(partition: Any, marker: Any, now: Any) -> Any:
        aborts = marker.aborts or strikes()
        return right(partition, replace(marker, aborts=aborts), now)

    return append_marker


def _decision(commits: bool) -> Callable[[property], property]:
    """Reverse commits, or aborts, of one epoch in some."""

    def instead(right: property) -> property:
        def aborts(one: Any) -> bool:
            found: bool = right.fget(one)  # type: ignore[misc]
            is_struck = one.of.producer_epoch % SELDOM == 0 and found is not commits
            return not found if is_struck else found

        return property(aborts)

    return instead


def _early_stable_offset(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda partition: partition.high_watermark


def _unlisted_aborts(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *words: replace(right(*words), aborted=())


def _offsets_end(aborts: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def instead(right: Callable[..., Any]) -> Callable[..., Any]:
        def end_transaction(self: Any, producer_id: Any, concerns: Any, **_: Any) -> None:
            right(self, producer_id, concerns, aborts=aborts)

        return end_transaction

    return instead


def _same_epoch(right: Callable[..., Any]) -> Callable[..., Any]:
    def decided(transactions: Any, known: Any, wanted: Any, now: Any) -> Any:
        return replace(right(transactions, known, wanted, now), producer_epoch=known.producer_epoch)

    return decided


def _later_partitions_left_out(right: Callable[..., Any]) -> Callable[..., Any]:
    strikes = _seldom()

    def add(transactions: Any, name: str, producer: Any, places: Any, *rest: Any) -> Any:
        known = transactions.find(name)
        if known is not None and known.places and known.places.isdisjoint(places) and strikes():
            return right(transactions, name, producer, known.places, *rest)
        return right(transactions, name, producer, places, *rest)

    return add


def _in(module: str, name: str, instead: Callable[[Any], Any]) -> WrongFunction:
    return WrongFunction(f"{STATE}.{module}", name, instead)


PLANTED = (
    PlantedBug(
        "a_marker_is_lost",
        "A partition of a decided transaction gets no marker.",
        _in("transactions.marker_writing", "_settle_place", _lost_marker),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "a_partition_gets_the_other_marker",
        "A partition of a committed transaction gets the marker of an abort.",
        _in("partition.coordinator_append", "append_marker", _reversed_marker),
        Anomaly.TORN_TRANSACTION, APPENDS,
    ),
    PlantedBug(
        "a_commit_is_an_abort",
        "The coordinator acknowledges a commit, and aborts.",
        _in("transactions.marker_rounds", "MarkerRound.aborts", _decision(True)),
        Anomaly.LOST_WRITE, APPENDS,
    ),
    PlantedBug(
        "an_abort_is_a_commit",
        "The coordinator acknowledges an abort, and commits.",
        _in("transactions.marker_rounds", "MarkerRound.aborts", _decision(False)),
        Anomaly.ABORTED_READ, APPENDS,
    ),
    PlantedBug(
        "the_stable_offset_is_early",
        "The last stable offset does not wait for open transactions.",
        _in("partition.last_stable_offset", "last_stable_offset", _early_stable_offset),
        Anomaly.DIRTY_READ, APPENDS,
    ),
    PlantedBug(
        "aborts_are_not_listed",
        "Fetch does not list aborted transactions.",
        _in("fetch.fetch_reading", "_read", _unlisted_aborts),
        Anomaly.ABORTED_READ, APPENDS,
    ),
    PlantedBug(
        "pending_offsets_are_dropped",
        "A commit drops the offsets of its transaction.",
        _in("groups.committed_offsets", "CommittedOffsets.end_transaction", _offsets_end(True)),
        Anomaly.CONSUMED_TWICE, TRANSFORMS,
    ),
    PlantedBug(
        "aborted_offsets_are_kept",
        "An abort commits the offsets of its transaction.",
        _in("groups.committed_offsets", "CommittedOffsets.end_transaction", _offsets_end(False)),
        Anomaly.NEVER_CONSUMED, TRANSFORMS,
    ),
    PlantedBug(
        "an_end_keeps_the_epoch",
        "The end of a transaction does not raise the epoch.",
        _in("transactions.ending", "_decided", _same_epoch),
        Anomaly.STUCK, APPENDS,
    ),
    PlantedBug(
        "later_partitions_are_left_out",
        "The coordinator forgets a partition that is added behind the first ones.",
        _in("transactions.adding", "add", _later_partitions_left_out),
        Anomaly.STUCK, APPENDS,
    ),
)  # fmt: skip

"""ISR: the allowed lag of a follower, with followers that fetch only when the test lets them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.client.errors import PreparationFailed
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.timeline import R2, R3, Timeline
from suites.replication.support.expect import expect_sound

LAG_MS = 3000
CHECKED_ANEW = 1.5
"""A limit as a multiple of the lag: the leader checks for lagging followers every half of it."""
SLACK_MS, MOST_SLACK_MS = 1200, 1400
"""Time in ms until the responding broker knows of a smaller ISR.

The first is for a fast machine; the second is the most, as the next check comes half of the lag
later.
"""
LATEST_MS = 5 * LAG_MS
PAUSE_S = 0.1
SELDOM = 0.8
"""The time between two fetches of a follower, as a multiple of the lag, that is too much."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the ISR. R3 had not been caught up for a time between these two."""

    is_in: bool
    at_least_ms: float
    at_most_ms: float


@dataclass(slots=True)
class Trailing:
    """R2 fetches all records again and again, while R3 does what the test demands.

    R3 was caught up for the last time between ``after_s`` and ``before_s``, of the monotonic clock.
    """

    timeline: Timeline
    after_s: float = 0.0
    before_s: float = 0.0

    def begin(self) -> None:
        """A record that both have, so that both are caught up."""
        self.timeline.partition.produce()
        self.timeline.follow(R2, 1)
        self.follow(1)

    def follow(self, offset: int) -> None:
        """R3 fetches, and is caught up by that."""
        self.after_s = time.monotonic()
        self.timeline.follow(R3, offset)
        self.before_s = time.monotonic()

    def looks(self, r3: Callable[[int], object] = int) -> Iterator[Look]:
        """Yield a look after each new record; R2 fetches each, and ``r3`` gets the end of the log.

        Raises AssertionError if R2, which has all records, is not in the ISR, or R3 is for far too
        long.
        """
        partition, followers = self.timeline.partition, self.timeline.followers
        late_ms = 0.0
        while late_ms < partition.broker.scaled_ms(LATEST_MS):
            end = partition.produce() + 1
            self.timeline.follow(R2, end)
            r3(end)
            at_least_ms = (time.monotonic() - self.before_s) * 1000
            isr = partition.state().isr
            late_ms = (time.monotonic() - self.after_s) * 1000
            in_sync = f"R2 has all {end} records, the ISR is {isr}"
            assert followers[R2].broker_id in isr, in_sync
            yield Look(followers[R3].broker_id in isr, at_least_ms, late_ms)
            time.sleep(PAUSE_S)
        raise AssertionError(f"R3 is in the ISR, and was not caught up for {late_ms:.0f} ms")

    def leave(self, r3: Callable[[int], object] = int) -> tuple[Look, Look]:
        """The last look at which R3 was in the ISR, and the first at which it was not."""
        before = Look(is_in=True, at_least_ms=0, at_most_ms=0)
        for look in self.looks(r3):
            if not look.is_in:
                return before, look
            before = look
        raise AssertionError  # there is always another look


def _expect_not_too_early(left: Look) -> None:
    told = f"R3 has left the ISR within {left.at_most_ms:.0f} ms, the lag may be {LAG_MS} ms"
    assert left.at_most_ms > LAG_MS, told


@judges("ISR-002")
@needs_broker(Use.JOINABLE, {"replica.lag.time.max.ms": str(LAG_MS)})
def test_follower_without_fetches_leaves_isr_after_max_lag(timeline: Timeline) -> None:
    """R3 leaves after the lag has passed, not before; R2, which has all records, stays."""
    trailing = Trailing(timeline)
    trailing.begin()
    with requirement("ISR-002"), in_time(LATEST_MS):
        _, left = trailing.leave()
        _expect_not_too_early(left)


@judges("ISR-003")
@needs_broker(Use.JOINABLE, {"replica.lag.time.max.ms": str(LAG_MS)})
def test_slow_follower_leaves_isr(timeline: Timeline) -> None:
    """R3 fetches a record a time, never one that was the last when it asked before."""
    trailing = Trailing(timeline)
    trailing.begin()
    timeline.partition.produce(3)
    asked = iter(range(1, 1000))
    with requirement("ISR-003"), in_time(LATEST_MS):
        _, left = trailing.leave(lambda _: timeline.follow(R3, next(asked)))
        _expect_not_too_early(left)
        expect_sound(timeline.partition)


@judges("ISR-004")
@needs_broker(Use.JOINABLE, {"replica.lag.time.max.ms": str(LAG_MS)})
def test_follower_reaching_log_end_of_previous_fetch_stays_in_isr(timeline: Timeline) -> None:
    """R3 is never at the end of the log, and always where that was a moment ago."""
    trailing, last = Trailing(timeline), 1
    trailing.begin()
    began_s = time.monotonic()

    def trail(end: int) -> None:
        nonlocal last
        if (time.monotonic() - trailing.after_s) * 1000 > LAG_MS / 2:
            raise PreparationFailed("R3 did not get to fetch often enough")
        trailing.follow(last)
        last = end

    with requirement("ISR-004"), in_time(LAG_MS / 2):
        for look in trailing.looks(trail):
            passed_ms = (time.monotonic() - began_s) * 1000
            told = f"R3 is one record behind, and after {passed_ms:.0f} ms not in the ISR"
            assert look.is_in, told
            if passed_ms > 3 * LAG_MS:
                break
        expect_sound(timeline.partition)


@judges("ISR-019")
@needs_broker(Use.JOINABLE, {"replica.lag.time.max.ms": str(LAG_MS)})
def test_follower_that_reaches_log_end_of_previous_fetch_is_caught_up_as_of_that_fetch(
    timeline: Timeline,
) -> None:
    """R3 fetches four times in five allowed lags, from the end at its fetch before: it leaves."""
    trailing = Trailing(timeline)
    trailing.begin()
    last, fetched_s = 1, trailing.after_s

    def trail(end: int) -> None:
        nonlocal last, fetched_s
        if (time.monotonic() - fetched_s) * 1000 < LAG_MS * SELDOM:
            return
        fetched_s = time.monotonic()
        timeline.follow(R3, last)
        last = end

    with requirement("ISR-019"), in_time(LATEST_MS):
        _, left = trailing.leave(trail)
        _expect_not_too_early(left)
        expect_sound(timeline.partition)


@judges("ISR-006")
@needs_broker(Use.JOINABLE, {"replica.lag.time.max.ms": str(LAG_MS)})
def test_lagging_follower_leaves_isr_within_one_and_a_half_max_lag(timeline: Timeline) -> None:
    """R3 fetches no more."""
    trailing = Trailing(timeline)
    trailing.begin()
    with requirement("ISR-006"), in_time(SLACK_MS):
        last_in, _ = trailing.leave()
        late_ms = last_in.at_least_ms
        slack_ms = min(timeline.partition.broker.scaled_ms(SLACK_MS), MOST_SLACK_MS)
        told = f"R3 is in the ISR, not caught up for {late_ms:.0f} ms; its lag may be {LAG_MS} ms"
        assert late_ms <= LAG_MS * CHECKED_ANEW + slack_ms, told


@judges("ISR-018")
@needs_broker(Use.JOINABLE, {"replica.lag.time.max.ms": str(LAG_MS)})
def test_new_leader_keeps_follower_that_has_not_fetched_for_max_lag(peers: JoinedCluster) -> None:
    """The real broker follows a virtual one, which leaves; the other follower never fetches."""
    leader, silent = peers.join(), peers.join()
    partition = peers.beside(leader, silent)
    both = tuple(sorted((peers.leader, silent.broker_id)))
    with requirement("ISR-018"), in_time(LAG_MS):
        began_s = time.monotonic()
        leader.leave()
        partition.await_isr(*both)
        left_ms = 0.0
        while silent.broker_id in partition.state().isr:
            left_ms = (time.monotonic() - began_s) * 1000
            assert left_ms < partition.broker.scaled_ms(LATEST_MS), "it never leaves the ISR"
            time.sleep(PAUSE_S)
        left_ms = (time.monotonic() - began_s) * 1000
        told = f"it has left the ISR within {left_ms:.0f} ms, the lag may be {LAG_MS} ms"
        assert left_ms > LAG_MS, told

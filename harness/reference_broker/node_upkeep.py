"""The work of a node that no request causes: periodic rounds, and the alarms of its groups."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from harness.base.ids import TimeMs
from harness.reference_broker.effects import Effect
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.cleaning.log_retention import retention_round
from harness.reference_broker.state.groups.groups import Groups
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.transactions.expiry import abort_overdue, forget_expired
from harness.reference_broker.state.transactions.transactions import Transactions
from harness.reference_broker.upkeep import Upkeep
from harness.reference_broker.wall_clock import now_ms

_MARKERS_AGAIN_MS, _MARKERS_LOOK_MS = 100, 500
"""The pause before markers that are due are sent again, and before a look without any."""

CarryOut = Callable[[list[Effect]], None]
"""Carries out effects, and those that the state has collected."""


def upkeep_of(
    state: BrokerState, settings: BrokerSettings, carry_out: CarryOut, *, in_cluster: bool
) -> Iterator[Upkeep]:
    """Yield the periodic work of a broker; leaders in a cluster also shrink their ISRs."""
    yield _retention(state, settings)
    if settings.flag("log.cleaner.enable"):
        yield _compaction(state)
    yield _offset_expiry(state, settings, carry_out)
    yield from _of_transactions(state, settings, carry_out)
    if not in_cluster:
        yield token_expiry(state, settings, carry_out)
    if in_cluster:
        yield _isr_shrink(state, settings, carry_out)


def _retention(state: BrokerState, settings: BrokerSettings) -> Upkeep:
    return Upkeep(
        lambda now: retention_round(state.cluster, now),
        now_ms,
        settings.number("log.initial.task.delay.ms"),
        _always(settings.number("log.retention.check.interval.ms")),
    )


def _compaction(state: BrokerState) -> Upkeep:
    def backoff_ms() -> int:
        """Return the pause. It may change while the broker runs; even 0 leaves time for others."""
        return max(int(state.configs.value("log.cleaner.backoff.ms") or 0), 1)

    return Upkeep(
        lambda now: _compaction_round(state.cluster, now), now_ms, backoff_ms(), backoff_ms
    )


def _compaction_round(cluster: ClusterState, now: TimeMs) -> Iterator[None]:
    if not any(topic.config.is_compacted for topic in cluster.topics()):
        return iter(())
    # Not at the start: the import is slow, and many brokers never have a log to compact.
    from harness.reference_broker.state.cleaning.log_compaction import compaction_round

    return compaction_round(cluster, now)


def _offset_expiry(state: BrokerState, settings: BrokerSettings, carry_out: CarryOut) -> Upkeep:
    def expire(now: TimeMs) -> Iterator[None]:
        state.expire_offsets(now)
        carry_out([])
        yield

    interval_ms = settings.number("offsets.retention.check.interval.ms")
    return Upkeep(expire, now_ms, interval_ms, _always(interval_ms))


def token_expiry(state: BrokerState, settings: BrokerSettings, carry_out: CarryOut) -> Upkeep:
    """Return the removal of expired delegation tokens; in a cluster the controller does it."""

    def expire(now: TimeMs) -> Iterator[None]:
        expired = state.delegation_tokens.expired(now)
        if expired:
            # Not at the start: most brokers have no tokens.
            from harness.codec.messages import RemoveDelegationTokenRecord

            gone = [RemoveDelegationTokenRecord(token_id=token.token_id) for token in expired]
            state.change_metadata(gone, now)
            carry_out([])
        yield

    interval_ms = settings.number("delegation.token.expiry.check.interval.ms")
    return Upkeep(expire, now_ms, interval_ms, _always(interval_ms))


def _of_transactions(
    state: BrokerState, settings: BrokerSettings, carry_out: CarryOut
) -> Iterator[Upkeep]:
    """Yield the ends of late transactions and unused ids, and the retry of markers."""
    for name, work in (
        ("transaction.abort.timed.out.transaction.cleanup.interval.ms", abort_overdue),
        ("transaction.remove.expired.transaction.cleanup.interval.ms", forget_expired),
    ):
        interval_ms = settings.number(name)
        begin = _on_transactions(state, work, carry_out)
        yield Upkeep(begin, now_ms, interval_ms, _always(interval_ms))
    begin = _on_transactions(state, lambda *_: None, carry_out)
    rounds = state.transactions.rounds
    yield Upkeep(
        begin,
        now_ms,
        _MARKERS_LOOK_MS,
        lambda: _MARKERS_AGAIN_MS if len(rounds) else _MARKERS_LOOK_MS,
    )


def _on_transactions(
    state: BrokerState, work: Callable[[Transactions, TimeMs], None], carry_out: CarryOut
) -> Callable[[TimeMs], Iterator[None]]:
    def begin(now: TimeMs) -> Iterator[None]:
        work(state.transactions, now)
        if len(state.transactions.rounds):
            carry_out([])
        yield

    return begin


def _isr_shrink(state: BrokerState, settings: BrokerSettings, carry_out: CarryOut) -> Upkeep:
    def shrink(now: TimeMs) -> Iterator[None]:
        """Shrink ISRs, twice within the time of a follower's lag (class ReplicaManager)."""
        for partition in list(state.cluster.partitions()):
            carry_out(partition.shrink_isr(now))
            yield

    interval_ms = max(settings.number("replica.lag.time.max.ms") // 2, 1)
    return Upkeep(shrink, now_ms, interval_ms, _always(interval_ms))


def _always(interval_ms: int) -> Callable[[], int]:
    return lambda: interval_ms


class GroupAlarmTimer:
    """The timer for the next alarm of the groups; it runs the alarms that are due."""

    def __init__(self, groups: Groups, carry_out: CarryOut) -> None:
        self._groups, self._carry_out = groups, carry_out
        self._set: tuple[TimeMs, asyncio.TimerHandle] | None = None

    def follow(self) -> None:
        """Set the timer anew if the next alarm has changed; a caller must call it after changes."""
        at = self._groups.next_alarm_at
        if self._set is not None:
            if self._set[0] == at:
                return
            self._set[1].cancel()
            self._set = None
        if at is not None:
            delay_s = max(at - now_ms(), 0) / 1000
            self._set = at, asyncio.get_running_loop().call_later(delay_s, self._ring)

    def _ring(self) -> None:
        self._set = None
        self._carry_out(self._groups.ring(now_ms()))
        self.follow()

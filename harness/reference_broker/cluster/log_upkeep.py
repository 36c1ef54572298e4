"""Periodic work of a broker on its files. Source: class LogManager (startup)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harness.base.ids import TimeMs
from harness.codec.data_framing.log_folder import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
)
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.storage.log_directories import LogDirectories
from harness.reference_broker.upkeep import Upkeep
from harness.reference_broker.wall_clock import now_ms

_CHECKPOINTS = (
    ("replica.high.watermark.checkpoint.interval.ms", (HIGH_WATERMARKS, CLEANER_OFFSETS)),
    ("log.flush.offset.checkpoint.interval.ms", (RECOVERY_POINTS,)),
    ("log.flush.start.offset.checkpoint.interval.ms", (LOG_STARTS,)),
)
_FLUSH = "log.flush.scheduler.interval.ms"
_NEVER_MS = 2**63 - 1
_TIDY_MS = 500


def log_upkeep(
    state: BrokerState, logs: LogDirectories, settings: BrokerSettings
) -> Iterator[Upkeep]:
    """Yield the upkeep for checkpoints, flushes by time, and the second step of deletions."""
    for setting, files in _CHECKPOINTS:
        yield _every(max(settings.number(setting), 1), _checkpoint(state, logs, files))
    yield _every(_TIDY_MS, logs.tidy)
    flush_ms = settings.number(_FLUSH)
    if flush_ms < _NEVER_MS:
        yield _every(max(flush_ms, 1), logs.flush_due)


def note_offsets(state: BrokerState) -> None:
    """Note the offsets of each log for the next checkpoint."""
    for partition in state.cluster.partitions():
        partition.note_offsets()


def _checkpoint(
    state: BrokerState, logs: LogDirectories, files: tuple[str, ...]
) -> Callable[[TimeMs], None]:
    def write(_now: TimeMs) -> None:
        note_offsets(state)
        logs.checkpoint(files)

    return write


def _every(interval_ms: int, do: Callable[[TimeMs], None]) -> Upkeep:
    def steps(now: TimeMs) -> Iterator[None]:
        do(now)
        yield

    return Upkeep(steps, now_ms, interval_ms, lambda: interval_ms)

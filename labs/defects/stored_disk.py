"""Defects of area RECV: flushes that the built-in broker makes, or only pretends."""

from __future__ import annotations

from collections.abc import Callable

from harness.base.ids import TimeMs
from harness.codec.data_framing.log_folder import METADATA_TOPIC
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.storage.stored_log import StoredLog
from labs.defects.defect import wrong_in_broker

LOG = "storage.stored_log"
Append = Callable[[StoredLog, StoredBatch, TopicConfig, TimeMs], None]
FlushDue = Callable[[StoredLog, TimeMs], None]


def _append_alone(append: Append, log: StoredLog, batch: StoredBatch, config: TopicConfig,
                  now: TimeMs) -> None:  # fmt: skip
    """Append without the flush."""
    log.flush = lambda: None  # type: ignore[method-assign]
    try:
        append(log, batch, config, now)
    finally:
        del log.flush


@wrong_in_broker("RECV-011", r"power loss 1 1 of 37 acknowledged records are lost",
                 LOG, "StoredLog.append")  # fmt: skip
def a_flush_comes_before_the_append(append: Append) -> Append:
    """The broker flushes a client's log before it writes the message, not after."""

    def instead(log: StoredLog, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        if log.folder.name.startswith(METADATA_TOPIC):
            return append(log, batch, config, now)
        if log.end_offset - log.recovery_point >= config.flush_messages:
            log.flush()
        return _append_alone(append, log, batch, config, now)

    return instead


@wrong_in_broker("RECV-012", r"every 5 messages, \d\d of 53 acknowledged records are lost",
                 LOG, "StoredLog.append")  # fmt: skip
def a_log_is_flushed_always_or_never(append: Append) -> Append:
    """The broker follows flush.messages only if it is 1, and otherwise never flushes."""

    def instead(log: StoredLog, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        if config.flush_messages == 1:
            append(log, batch, config, now)
        else:
            _append_alone(append, log, batch, config, now)

    return instead


@wrong_in_broker("RECV-012", r"every 300 ms, 67 records later, \d+ of 134 acknowledged",
                 LOG, "StoredLog.flush_due")  # fmt: skip
def a_flush_in_time_is_only_noted(flush_due: FlushDue) -> FlushDue:
    """The broker counts messages as flushed when a flush is due, and does not flush them."""

    def instead(log: StoredLog, now: TimeMs) -> None:
        log.flush = lambda: log._flushed(log.end_offset)  # type: ignore[method-assign]
        try:
            flush_due(log, now)
        finally:
            del log.flush

    return instead


DEFECTS = [
    a_flush_comes_before_the_append,
    a_log_is_flushed_always_or_never,
    a_flush_in_time_is_only_noted,
]

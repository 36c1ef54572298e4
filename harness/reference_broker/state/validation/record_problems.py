"""Well-formed records that are still refused: without a key, or with a wrong timestamp.

Source: class LogValidator (validateKey, validateTimestamp); KIP-467, KIP-937.
"""

from typing import NamedTuple

from harness.base.ids import TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import LOG_APPEND_TIME, BatchHeader
from harness.codec.records.walk import RecordsSummary
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.append_error import AppendRefused, RecordProblem

_NO_TIMESTAMP = -1
_INT64_MAX = 2**63 - 1
_NOT_OF_BROKER = "A producer may not set the timestamp type to LogAppendTime."
_KEYLESS = "A compacted topic takes no record without a key."


class TimestampLimits(NamedTuple):
    """The timestamps that the records of one batch may have.

    `is_checked` is False on topics with the broker's time. `every_record_has` is the batch's max
    timestamp if the header sets it for all records. `of_broker_is_refused`: a batch with the
    broker's time is always refused; since 3.6 (KIP-937) only if its own time is not checked.
    """

    base_timestamp: int
    earliest: int
    latest: int
    every_record_has: int | None
    is_checked: bool
    of_broker_is_refused: bool = False

    @classmethod
    def of(cls, config: TopicConfig, header: BatchHeader, now: TimeMs) -> "TimestampLimits":
        """Return the limits for a batch that arrives at `now`."""
        in_header = bool(header.attributes & LOG_APPEND_TIME)
        return cls(
            header.base_timestamp,
            now - config.timestamp_before_max_ms,
            now + config.timestamp_after_max_ms,
            header.max_timestamp if in_header else None,
            not config.uses_log_append_time,
            config.refuses_append_time,
        )

    @property
    def have_a_lower_end(self) -> bool:
        """True if a timestamp can be too early at all."""
        return self.is_checked and self.earliest > -_INT64_MAX // 2

    def problem_with(self, timestamp_delta: int) -> str | None:
        """Return the problem of a record's timestamp; None if it has none."""
        timestamp, in_header = self.every_record_has, self.every_record_has is not None
        if timestamp is None:
            timestamp = as_int64(self.base_timestamp + timestamp_delta)
        if self.is_checked and timestamp != _NO_TIMESTAMP:
            if self.earliest <= timestamp <= self.latest:
                return _NOT_OF_BROKER if in_header and self.of_broker_is_refused else None
            return f"Timestamp {timestamp} is outside of [{self.earliest}, {self.latest}]."
        return _NOT_OF_BROKER if in_header else None


def may_have_problems(
    summary: RecordsSummary, config: TopicConfig, limits: TimestampLimits
) -> bool:
    """True if the records need a closer check; an ordinary good batch never does."""
    if summary.null_keys and config.is_compacted:
        return True
    if limits.every_record_has is not None:
        return True
    if not limits.is_checked:
        return False
    if limits.base_timestamp + summary.max_timestamp_delta > limits.latest:
        return True
    deltas = summary.timestamp_deltas or ()
    return limits.base_timestamp + min(deltas, default=_INT64_MAX) < limits.earliest


def refuse_records(summary: RecordsSummary, config: TopicConfig, limits: TimestampLimits) -> None:
    """Raise AppendRefused with every record at fault; return if there is none.

    One wrong timestamp makes the error INVALID_TIMESTAMP, even beside records without a key.
    """
    keyless = set(summary.null_keys) if config.is_compacted else set()
    problems: list[RecordProblem] = []
    error = ErrorCode.INVALID_RECORD
    for position, delta in enumerate(summary.timestamp_deltas or ()):
        if position in keyless:
            problems.append(RecordProblem(position, _KEYLESS))
        elif (problem := limits.problem_with(delta)) is not None:
            problems.append(RecordProblem(position, problem))
            error = ErrorCode.INVALID_TIMESTAMP
    if problems:
        what = "invalid timestamps" if error is ErrorCode.INVALID_TIMESTAMP else "record errors"
        raise AppendRefused(
            error,
            f"{len(problems)} of {summary.count} records were refused for {what}",
            tuple(problems),
            tells_log_start=True,
        )


def as_int64(value: int) -> int:
    """Return the value as Java has it: sums of timestamps wrap around."""
    return (value + 2**63) % 2**64 - 2**63

"""STOR: changed configs of logs with records: the policy, and where segments end."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.keyed import CleaningWitness
from suites.durability.support.segments import (
    DAY_MS,
    GONE_WITHIN_MS,
    HOUR_MS,
    MINUTE_MS,
    OFTEN,
    SEGMENT_MS,
    Witness,
    begin_of,
    begin_once,
    topic_of_segments,
)
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.compacted import QUICKLY
from suites.protocol.support.config_admin import CHANGE_WITHIN_MS, TOPIC, replace_all
from suites.protocol.support.expect import expect_error

AGES_MS = (3 * DAY_MS, 2 * DAY_MS, HOUR_MS)
LIMIT_BYTES = 1_000
MEGABYTE = 1 << 20  # the least segment.bytes that every release takes
LARGE_BYTES = 600_000


def _timed(time_ms: int, key: bytes, size_bytes: int = 1) -> bytes:
    """A batch of one record with a key."""
    return encode_batch(RecordBatch([Record(bytes(size_bytes), key)], base_timestamp=time_ms))


def _change(broker: BrokerUnderTest, topic: Topic, **configs: str) -> None:
    """Replace all configs; dots are written as ``__``."""
    named = {name.replace("__", "."): value for name, value in configs.items()}
    code = replace_all(broker, (TOPIC, topic.name), named)
    expect_error(code, ErrorCode.NONE, f"AlterConfigs with {named}")


@judges("STOR-035")
@needs_broker(Use.TUNED, {**OFTEN, **QUICKLY})
def test_changed_cleanup_policy_holds_for_records_that_are_there(broker: BrokerUnderTest) -> None:
    """Kept for a day are three records of other keys, of which two are older.

    They go when "compact" becomes "delete", and stay when "delete", with no limit, becomes
    "compact".
    """
    broker.version("AlterConfigs")
    witnesses = (Witness(broker), CleaningWitness(broker))
    segment_ms, day = str(SEGMENT_MS), str(DAY_MS)
    deleted = topic_of_segments(broker, cleanup__policy="compact", retention__ms=day)
    kept = topic_of_segments(broker, cleanup__policy="delete", retention__ms="-1")
    for topic in (deleted, kept):
        append(broker, topic, *(_timed(now_ms() - age, b"%d" % age) for age in AGES_MS))
    _await_looks(witnesses)
    with requirement("STOR-035"):
        begins = [begin_of(broker, topic) for topic in (deleted, kept)]
        assert begins == [0, 0], f"before the change the logs begin at {begins}, expected 0"
        _change(broker, kept, cleanup__policy="compact", retention__ms=day, segment__ms=segment_ms)
        _change(
            broker, deleted, cleanup__policy="delete", retention__ms=day, segment__ms=segment_ms
        )
        begin = begin_once(broker, deleted, 2)
        assert begin == 2, f"changed to delete, the log begins at {begin}, expected 2"
        _await_looks(witnesses)
        begin = begin_of(broker, kept)
        assert begin == 0, f"changed to compact, the log begins at {begin}, expected 0"


def _await_looks(witnesses: tuple[Witness, CleaningWitness]) -> None:
    """Return when the broker has looked at all logs again, for each policy."""
    for witness in witnesses:
        witness.look()


class _GrowingLog:
    """A log with configs that change. All but its newest segment go."""

    def __init__(self, broker: BrokerUnderTest, **configs: str) -> None:
        self._broker, self._first_ms = broker, now_ms() - 5 * HOUR_MS
        configs.setdefault("max__message__bytes", str(LIMIT_BYTES))
        self.topic = topic_of_segments(broker, 1, retention__bytes="1", **configs)

    def append(self, *after_ms: int, size_bytes: int = 1) -> None:
        """Append a batch for each time, in milliseconds after the first."""
        for after in after_ms:
            batch = _timed(self._first_ms + after, b"key", size_bytes)
            append(self._broker, self.topic, batch)

    def change(self, after_ms: int, size_bytes: int, **configs: str) -> None:
        """Change the configs; then append a batch that is too large before the change."""
        batch = _timed(self._first_ms + after_ms, b"later", size_bytes)
        code = self._broker.produce(self.topic, batch).error_code
        if code != ErrorCode.MESSAGE_TOO_LARGE:
            raise PreparationFailed(f"a batch above the limit: {ErrorCode.describe(code)}", code)
        _change(self._broker, self.topic, retention__bytes="1", **configs)
        code = self._broker.last_seen(
            lambda: self._broker.produce(self.topic, batch).error_code,
            lambda code: code != ErrorCode.MESSAGE_TOO_LARGE,
            CHANGE_WITHIN_MS,
        )
        expect_error(code, ErrorCode.NONE, "a batch that is too large before the change")

    @property
    def begin(self) -> int:
        """The earliest offset."""
        return begin_of(self._broker, self.topic)


@judges("STOR-036")
@needs_broker(Use.TUNED, OFTEN)
def test_changed_segment_ms_and_bytes_hold_for_segment_that_is_written(
    broker: BrokerUnderTest,
) -> None:
    """Two records are in the newest segment when a config changes; the third one comes after it.

    It begins a segment where segment.ms or segment.bytes is shorter now, and none where
    segment.ms is longer.
    """
    broker.version("AlterConfigs")
    witness, day, minute = Witness(broker), str(DAY_MS), str(MINUTE_MS)
    shorter = _GrowingLog(broker, segment__ms=day)
    longer = _GrowingLog(broker, segment__ms=minute)
    smaller = _GrowingLog(
        broker, segment__ms=day, segment__bytes=str(4 * MEGABYTE),
        max__message__bytes=str(LARGE_BYTES + LIMIT_BYTES),
    )  # fmt: skip
    shorter.append(0, HOUR_MS)
    longer.append(0, MINUTE_MS)
    smaller.append(0, 0, size_bytes=LARGE_BYTES)
    witness.look()
    with requirement("STOR-036") as check:
        begins = [log.begin for log in (shorter, longer, smaller)]
        assert begins == [0, 0, 0], f"before the change the logs begin at {begins}, expected 0"
        shorter.change(2 * HOUR_MS, 2 * LIMIT_BYTES, segment__ms=minute)
        longer.change(2 * HOUR_MS, 2 * LIMIT_BYTES, segment__ms=day)
        smaller.change(0, LARGE_BYTES + 2 * LIMIT_BYTES, segment__ms=day,
                       segment__bytes=str(MEGABYTE))  # fmt: skip
        for name, log in (("segment.ms", shorter), ("segment.bytes", smaller)):
            with check.subtest(f"a shorter {name}"):
                begin = broker.last_seen(
                    lambda log=log: log.begin,  # type: ignore[misc]
                    lambda at: at >= 2,
                    GONE_WITHIN_MS,
                )
                assert begin == 2, f"a shorter {name}: the log begins at {begin}, expected 2"
        witness.look()
        begin = longer.begin
        assert begin == 0, f"a longer segment.ms: the log begins at {begin}, expected 0"

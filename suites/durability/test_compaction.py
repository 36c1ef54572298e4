"""STOR: what compaction takes from a log, and what it leaves."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.keyed import USUAL, CleaningWitness, Kept, KeyedLog, compacted
from suites.durability.support.segments import DAY_MS, HOUR_MS, MINUTE_MS, begin_once
from suites.protocol.support.compacted import (
    COMPACTED_WITHIN_MS,
    QUICKLY,
    compacted_topic,
)
from suites.protocol.support.config_admin import TOPIC, prepare_all, prepare_shown
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import ReadRecord, records_in

FETCH = api_named("Fetch")
MOST_CLEANINGS = 10
ROUNDS = 3
TWINS = (b"twin", b"other twin")  # keys by which a defect recognizes its test
LARGE_BYTES = 600_000  # the buffer has 512 KiB by default, half of it for reading


def _fill(log: KeyedLog, *keys: bytes) -> None:
    """Batches of these keys with holes that compaction will make everywhere; the last ends all."""
    one, two, three = keys
    log.append((one, b"1"), (two, b"1"))
    log.append((one, b"2"))
    log.append((three, b"1"), (one, b"3"), (three, b"2"))
    log.append((one, b"4"), (one, b"5"))
    log.append((two, b"2"))
    log.append((b"end", b"1"))


@judges("STOR-012")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_keeps_last_value_of_each_key_at_its_offset(broker: BrokerUnderTest) -> None:
    """Whenever one looks, before, meanwhile and after: no offset, order, key or value changes."""
    log = KeyedLog(broker, compacted(broker))
    with requirement("STOR-012"):
        for _ in range(ROUNDS):
            _fill(log, b"one", b"two", b"three")
            left = log.read_once(lambda left: _expect_sound(log, left) and _is_compacted(log, left))
            assert _is_compacted(log, left), f"it is not compacted: left is {left}"


@judges("STOR-012")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_of_each_partition_keeps_keys_that_another_has_at_higher_offsets(
    broker: BrokerUnderTest,
) -> None:
    """Two partitions with the same two keys: what is often written in one comes once in the
    other, at the begin."""
    topic = compacted_topic(broker, 2)
    logs = [KeyedLog(broker, topic, partition) for partition in range(2)]
    for log, (once, often) in zip(logs, (TWINS, TWINS[::-1]), strict=True):
        log.append((once, b"1"))
        for number in range(5):
            log.append((often, b"%d" % number))
        log.append((b"end of twins", b"1"))
    with requirement("STOR-012") as check:
        for log in logs:
            with check.subtest(f"partition {log.partition}"):
                left = log.read_once(
                    lambda left, log=log: _expect_sound(log, left) and _is_compacted(log, left)  # type: ignore[misc]
                )
                assert _is_compacted(log, left), f"it is not compacted: left is {left}"


def _is_compacted(log: KeyedLog, left: list[Kept]) -> bool:
    return not set(log.superseded()) & set(left)


def _expect_sound(log: KeyedLog, left: list[Kept]) -> bool:
    """Check offsets, values and the newest record of each key; always true."""
    offsets = [each.offset for each in left]
    assert offsets == sorted(set(offsets)), f"the offsets that are left are {offsets}"
    changed = [each for each in left if each not in log.written]
    assert not changed, f"left is {changed}, which was never written"
    lost = [each for each in log.newest().values() if each not in left]
    assert not lost, f"the newest of their keys are gone: {lost}"
    return True


@judges("STOR-013")
@needs_broker(Use.TUNED, QUICKLY)
def test_fetch_at_compacted_offset_returns_next_record(broker: BrokerUnderTest) -> None:
    """A fetch at any offset brings the next record that is left, at every version of Fetch."""
    log = KeyedLog(broker, compacted(broker))
    _fill(log, b"red", b"green", b"blue")
    left = log.await_compacted()
    for version in broker.advertised("Fetch") & FETCH.valid_versions:
        with requirement("STOR-013", api_key=FETCH.key, api_version=version) as check:
            for offset in range(len(log.written)):
                with check.subtest(f"offset {offset}"):
                    answer = broker.fetch(log.topic, offset, version)
                    expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
                    records = records_in(record_bytes(answer))
                    found = [each.offset for each in records if each.offset >= offset][:1]
                    following = [each.offset for each in left if each.offset >= offset][:1]
                    told = f"a fetch at {offset} brings offset {found}, the next is {following}"
                    assert found == following, told


@judges("STOR-014")
@needs_broker(Use.TUNED, QUICKLY)
def test_tombstone_is_kept_during_delete_retention_ms(broker: BrokerUnderTest) -> None:
    """Compaction removes the deleted record immediately and keeps the tombstone.

    The tombstone is there after three cleanings, as its ``delete.retention.ms`` of a day is not
    over: it began with the first cleaning, although the record is older than a day.
    """
    topic = compacted(broker, delete__retention__ms=str(DAY_MS))
    log = KeyedLog(broker, topic, oldest_ms=3 * DAY_MS)
    tombstone = _bury(log, b"buried")
    with requirement("STOR-014"):
        for times in range(ROUNDS):
            left = _clean_once(log)
            keys = [each for each in left if each.key == b"buried"]
            assert keys == [tombstone], f"cleaned {times + 1} times, left of the key is {keys}"


@judges("STOR-014")
@needs_broker(Use.TUNED, QUICKLY)
def test_tombstone_is_removed_after_delete_retention_ms(broker: BrokerUnderTest) -> None:
    """It is kept for no time: some cleaning takes it, and the key is gone."""
    log = KeyedLog(broker, compacted(broker, delete__retention__ms="0"))
    tombstone = _bury(log, b"over")
    with requirement("STOR-014"):
        keys = [tombstone]
        for _ in range(MOST_CLEANINGS):
            keys = [each for each in _clean_once(log) if each.key == b"over"]
            if not keys:
                break
        assert not keys, f"cleaned {MOST_CLEANINGS} times, left of the key is {keys}"


@judges("STOR-023")
@needs_broker(Use.TUNED, QUICKLY)
def test_empty_value_is_no_tombstone_and_empty_key_is_a_key(broker: BrokerUnderTest) -> None:
    """When a tombstone has gone, the record with the empty value is there, and so is the newest
    record with the empty key."""
    log = KeyedLog(broker, compacted(broker, delete__retention__ms="0"))
    log.append((b"", b"1"), (b"emptied", b"1"))
    log.append((b"", b"2"), (b"emptied", b""))
    expected = [(b"", b"2"), (b"emptied", b"")]
    _bury(log, b"over")
    with requirement("STOR-023"):
        left: list[Kept] = []
        for _ in range(MOST_CLEANINGS):
            left = _clean_once(log)
            found = [(each.key, each.value) for each in left if each.key in (b"", b"emptied")]
            assert found == expected, f"left of the empty key and value: {found}, not {expected}"
            if b"over" not in [each.key for each in left]:
                break
        assert b"over" not in [each.key for each in left], f"the tombstone stays: {left}"


@judges("STOR-027")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_removes_records_without_key(broker: BrokerUnderTest) -> None:
    """They were written while the topic was not compacted: alone in a batch, beside others, and as
    the last that is compacted."""
    broker.version("AlterConfigs")
    topic = broker.create_topic(configs={"cleanup.policy": "delete", "segment.ms": "1"})
    log = KeyedLog(broker, topic)
    log.append((None, b"1"))
    log.append((None, b"2"), (b"a", b"1"), (None, b"3"), (b"b", b"1"))
    log.append((b"a", b"2"), (None, b"4"))
    log.append((b"end", b"1"))
    prepare_all(broker, (TOPIC, topic.name), USUAL)
    expected = [each for each in log.written[4:] if each.key is not None]
    with requirement("STOR-027"):
        _expect_left(log, expected, "records without a key and an old value")


def _bury(log: KeyedLog, key: bytes) -> Kept:
    log.append((key, b"1"))
    log.append((key, b"2"))
    log.append((key, None))
    return log.written[-1]


def _clean_once(log: KeyedLog) -> list[Kept]:
    """Append what has to be cleaned, and wait until it is; what is left then."""
    for _ in range(3):
        log.append((b"tick", b"%d" % len(log.written)))
    return log.await_compacted()


@judges("STOR-015")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_skips_young_records_and_active_segment(broker: BrokerUnderTest) -> None:
    """Old ones of the same log are: it has been compacted, and more than once."""
    witness = CleaningWitness(broker)
    log = KeyedLog(broker, compacted(broker, min__compaction__lag__ms=str(HOUR_MS)))
    for _ in range(2):
        log.append((b"old", b"%d" % len(log.written)), age_ms=3 * HOUR_MS - len(log.written))
    for _ in range(3):  # two of them in closed segments
        log.append((b"young", b"%d" % len(log.written)), age_ms=HOUR_MS // 2 - len(log.written))
    expected = log.written[1:]
    wide = {"min__compaction__lag__ms": str(DAY_MS), "segment__ms": str(12 * HOUR_MS)}
    mixed = KeyedLog(broker, compacted(broker, **wide))
    for age_h in (60, 59, 30, 20, 1):  # two segments of two batches; the second has a young one
        mixed.append((b"mixed", b"%d" % age_h), age_ms=age_h * HOUR_MS)
    ahead = KeyedLog(broker, compacted(broker))  # min.compaction.lag.ms is 0
    for later_min in (17, 18, 19):
        ahead.append((b"ahead", b"%d" % later_min), age_ms=-later_min * MINUTE_MS)
    active = KeyedLog(broker, compacted(broker))
    active.append((b"a", b"1"))
    active.append((b"a", b"2"))
    active.append((b"a", b"3"), (b"a", b"4"), (b"a", b"5"))
    with requirement("STOR-015"):
        _expect_left(log, expected, "records younger than min.compaction.lag.ms and one old one")
        _expect_left(active, active.written[1:], "the active segment")
        _expect_left(mixed, mixed.written[1:], "a segment with a record that is too young")
        _expect_left(ahead, ahead.written[1:], "records of a later time than now")
        witness.look()
        _expect_left(mixed, mixed.written[1:], "once more, of a segment with a young record")
        _expect_left(log, expected, "once more, of the young ones")
        _expect_left(active, active.written[1:], "once more, of the active segment")


def _expect_left(log: KeyedLog, expected: list[Kept], what: str) -> None:
    gone = set(log.written) - set(expected)
    left = log.read_once(lambda left: not gone & set(left))
    assert left == expected, f"{what}: left is {left}, expected {expected}"


@judges("STOR-015")
@needs_broker(Use.TUNED, QUICKLY)
def test_max_compaction_lag_ms_forces_compaction_below_dirty_ratio(broker: BrokerUnderTest) -> None:
    """No share of the log that is dirty would do; max.compaction.lag.ms alone makes it go.

    One old segment is enough, though the others are young, and so is one old record that begins a
    segment; without an old one nothing happens.
    """
    never = {"min__cleanable__dirty__ratio": "1"}
    witness = CleaningWitness(broker)
    unforced = KeyedLog(broker, compacted(broker, **never))
    forced = KeyedLog(broker, compacted(broker, **never, max__compaction__lag__ms="1"))
    for log in (unforced, forced):
        for number in range(3):
            log.append((b"k", b"%d" % number))
    patient = KeyedLog(broker, compacted(broker, **never, max__compaction__lag__ms=str(DAY_MS)))
    one_old = KeyedLog(broker, compacted(broker, **never))
    for age_ms in (3 * HOUR_MS, 3 * MINUTE_MS, 2 * MINUTE_MS, MINUTE_MS):
        for log in (patient, one_old):
            log.append((b"aged", b"%d" % age_ms), age_ms=age_ms)
    wide = KeyedLog(broker, compacted(broker, **never, segment__ms=str(2 * HOUR_MS)))
    for age_min in (100, 2, -30):  # the first two are one segment, which is as old as its first
        wide.append((b"wide", b"%d" % age_min), age_ms=age_min * MINUTE_MS)
    limited = {**USUAL, "min.cleanable.dirty.ratio": "1", "max.compaction.lag.ms": str(HOUR_MS)}
    for log in (one_old, wide):
        prepare_all(broker, (TOPIC, log.topic.name), limited)  # all segments are there
    with requirement("STOR-015"):
        _expect_left(forced, forced.written[1:], "max.compaction.lag.ms is over")
        _expect_left(one_old, one_old.written[2:], "max.compaction.lag.ms is over for one segment")
        _expect_left(wide, wide.written[1:], "max.compaction.lag.ms is over for a first record")
        witness.look()
        _expect_left(unforced, unforced.written, "nothing forces it")
        _expect_left(patient, patient.written, "max.compaction.lag.ms is not over")


@judges("STOR-016")
@needs_broker(Use.TUNED, QUICKLY)
def test_compact_delete_policy_applies_retention_and_compaction(broker: BrokerUnderTest) -> None:
    """First what is too old goes, the newest of its keys too; of what comes then the newest stay,
    until they are too old."""
    both = {"cleanup__policy": "compact,delete", "retention__ms": str(DAY_MS)}
    log = KeyedLog(broker, compacted(broker, **both))
    for key in (b"cut", b"cut too"):
        log.append((key, b"old"), age_ms=3 * DAY_MS - len(log.written))
    with requirement("STOR-016"):
        begin = begin_once(broker, log.topic, 2)
        assert begin == 2, f"two records are too old, the log begins at {begin}"
        for number in range(3):
            log.append((b"later", b"%d" % number), age_ms=HOUR_MS - number)
        log.append((b"end", b"1"), age_ms=MINUTE_MS)
        log.begin = 2
        _expect_left(log, log.written[4:], "compacted behind what was cut")


@judges("STOR-018")
@needs_broker(Use.TUNED, QUICKLY)
def test_fetch_at_log_end_returns_every_record_during_compaction(broker: BrokerUnderTest) -> None:
    """All have the same key, and the log is compacted again and again; no offset is missing."""
    log = KeyedLog(broker, compacted(broker))
    begins: set[int] = set()

    def one_more() -> int:
        head = len(log.written)
        log.append((b"head", b"%d" % head), (b"head", b"%d again" % head))
        found = [Kept(each.offset, each.key, each.value) for each in _fetched(broker, log, head)]
        assert found == log.active, f"at the head are {log.active}, what came is {found}"
        begins.add(_fetched(broker, log, 0)[0].offset)
        return len(begins)

    with requirement("STOR-018"):
        times = broker.last_seen(one_more, lambda times: times > ROUNDS, COMPACTED_WITHIN_MS)
        assert times > ROUNDS, f"the log was compacted {times - 1} times"


def _fetched(broker: BrokerUnderTest, log: KeyedLog, offset: int) -> list[ReadRecord]:
    answer = broker.fetch(log.topic, offset)
    expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
    return [each for each in records_in(record_bytes(answer)) if each.offset >= offset]


@judges("STOR-020")
@needs_broker(Use.TUNED, QUICKLY)
def test_large_batches_are_compacted(broker: BrokerUnderTest) -> None:
    """Larger than the buffer of the cleaner, and than what the topic has taken since."""
    broker.version("AlterConfigs")
    log = KeyedLog(broker, compacted(broker))
    for number in range(3):
        log.append((b"large", b"%d" % number * LARGE_BYTES))
    limited = {**USUAL, "max.message.bytes": "1024"}
    prepare_all(broker, (TOPIC, log.topic.name), limited)
    prepare_shown(broker, (TOPIC, log.topic.name), {"max.message.bytes": "1024"})
    for number in range(2):
        log.append((b"small", b"%d" % number))
    log.append((b"end", b"1"))
    with requirement("STOR-020"):
        left = log.read_once(lambda left: left == log.written[2:3] + log.written[4:])
        offsets = [each.offset for each in left]
        assert offsets == [2, 4, 5], f"left are the offsets {offsets}, expected [2, 4, 5]"
        assert left[0] == log.written[2], "the large value that is left is not what was written"

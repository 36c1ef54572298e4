"""STOR: what is removed from a log, and when."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import LATEST, Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.log_dirs import described, places_of
from suites.durability.support.segments import (
    DAY_MS,
    GONE_WITHIN_MS,
    HOUR_MS,
    MINUTE_MS,
    OFTEN,
    SECOND_MS,
    SEGMENT_MS,
    Witness,
    aged,
    append_segments,
    begin_of,
    begin_once,
    size_of,
    stored_entries,
    timed,
    topic_of_segments,
)
from suites.durability.support.whole_log import stored
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.committed_offsets import commit, entry, fresh_group
from suites.protocol.support.config_admin import TOPIC, replace_all
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import records_of

NO_TIMESTAMP = -1
TWO_DAYS_OLD = DAY_MS + 26 * HOUR_MS
WITHIN_SEGMENT = 3
DELETED = ((4, 4), (3, 2), (8, 6))  # below which offset, and the first one that is kept with it


@judges("STOR-001")
def test_consumed_records_stay_readable_after_offset_commit(broker: BrokerUnderTest) -> None:
    """Read by a group that commits the end of the log, and read again, as often as one likes."""
    values = [b"consumed %d" % number for number in range(6)]
    topic = broker.create_topic()
    append(broker, topic, *(batch_of(value) for value in values))
    with requirement("STOR-001"):
        for reading in range(3):
            found = [value for _, value in stored(broker, topic)]
            assert found == values, f"read after {reading} commits: {found}, written were {values}"
            group = fresh_group(broker, topic)
            commit(broker, group, {topic: [entry(len(values))]})
        begin = begin_of(broker, topic)
        assert begin == 0, f"after the commits the log begins at {begin}"


@judges("STOR-002")
@needs_broker(Use.TUNED, OFTEN)
def test_retention_removes_whole_segments(broker: BrokerUnderTest) -> None:
    """Two and a half segments are wanted: however much comes, the log begins with a segment."""
    segment = [bytes(100)] * 3
    wanted = 5 * len(segment) * size_of(broker, aged(0, bytes(100))) // 2
    topic = topic_of_segments(broker, retention__bytes=str(wanted))
    append_segments(broker, topic, [segment] * 4)
    begins = [len(segment) * place for place in range(12)]
    begin = 0
    with requirement("STOR-002"):
        for more in range(3):
            before = begin
            begin = broker.last_seen(
                lambda: begin_of(broker, topic),
                lambda at, before=before: at > before,  # type: ignore[misc]
                GONE_WITHIN_MS,
            )
            assert begin > before, f"nothing goes: the log begins at {begin}"
            assert begin in begins, f"the log begins at {begin}, segments at {begins}"
            first = records_of(broker.fetch(topic, begin))[0][0]
            assert first == begin, f"the log begins at {begin}, its first record is {first}"
            append_segments(broker, topic, [segment], oldest_ms=(50 - 2 * more) * MINUTE_MS)


@judges("STOR-003")
@needs_broker(Use.TUNED, OFTEN)
def test_retention_ms_uses_newest_record_of_segment(broker: BrokerUnderTest) -> None:
    """The broker deletes a segment if its newest record is too old.

    A closed segment stays if only its first or last record is too old. The same holds for the
    active segment.
    """
    closed, active, old = range(3)
    witness = Witness(broker)
    topic = topic_of_segments(broker, 3, retention__ms=str(DAY_MS))
    append(broker, topic, aged(2 * HOUR_MS, b"young"), aged(TWO_DAYS_OLD, b"old"), partition=active)
    for age in (TWO_DAYS_OLD, TWO_DAYS_OLD - SECOND_MS, 2 * HOUR_MS, TWO_DAYS_OLD, 0):
        append(broker, topic, aged(age, b"r"), partition=closed)
    append(broker, topic, aged(TWO_DAYS_OLD, b"old"), partition=old)
    with requirement("STOR-003") as check:
        for partition, expected in ((closed, 2), (old, 1)):
            with check.subtest(f"partition {partition}"):
                begin = begin_once(broker, topic, expected, partition)
                told = f"partition {partition}: what is kept for a day begins at {begin}"
                assert begin == expected, f"{told}, expected {expected}"
        witness.look()
        begins = [begin_of(broker, topic, partition) for partition in (closed, active, old)]
        assert begins == [2, 0, 1], f"looked at again, the logs begin at {begins}, not [2, 0, 1]"


@judges("STOR-003")
@needs_broker(Use.TUNED, OFTEN)
def test_retention_ms_of_minus_1_keeps_all_records_and_of_0_none(broker: BrokerUnderTest) -> None:
    """Records of almost a year with -1; of a minute with 0, also in the active segment."""
    witness = Witness(broker)
    for_ever = topic_of_segments(broker, retention__ms="-1")
    for_no_time = topic_of_segments(broker, retention__ms="0")
    append(broker, for_ever, aged(300 * DAY_MS, b"old"), aged(299 * DAY_MS, b"old"))
    append(broker, for_no_time, aged(HOUR_MS, b"closed"), aged(MINUTE_MS, b"active"))
    with requirement("STOR-003"):
        begin = begin_once(broker, for_no_time, 2)
        assert begin == 2, f"what is kept for no time begins at {begin}, expected 2"
        witness.look()
        begin = begin_of(broker, for_ever)
        assert begin == 0, f"what is kept for ever begins at {begin}, expected 0"


@judges("STOR-033")
@needs_broker(Use.TUNED, OFTEN)
def test_changed_retention_ms_holds_for_records_that_are_there(broker: BrokerUnderTest) -> None:
    """Kept for ever at first, then for a day: of three segments the two old ones go."""
    broker.version("AlterConfigs")
    witness = Witness(broker)
    topic = topic_of_segments(broker, retention__ms="-1")
    ages = (TWO_DAYS_OLD, TWO_DAYS_OLD - HOUR_MS, HOUR_MS)
    append(broker, topic, *(aged(age, b"there") for age in ages))
    with requirement("STOR-033"):
        witness.look()
        begin = begin_of(broker, topic)
        assert begin == 0, f"what is kept for ever begins at {begin}, expected 0"
        configs = {"segment.ms": str(SEGMENT_MS), "retention.ms": str(DAY_MS)}
        code = replace_all(broker, (TOPIC, topic.name), configs)
        expect_error(code, ErrorCode.NONE, "AlterConfigs of retention.ms")
        begin = begin_once(broker, topic, 2)
        assert begin == 2, f"changed to a day, the log begins at {begin}, expected 2"
        witness.look()
        begin = begin_of(broker, topic)
        assert begin == 2, f"looked at again, the log begins at {begin}, expected 2"


@judges("STOR-032")
@needs_broker(Use.TUNED, OFTEN)
def test_retention_ms_of_records_without_timestamp_counts_from_last_write(
    broker: BrokerUnderTest,
) -> None:
    """They are kept for a day in one topic, and for a millisecond in the other."""
    witness = Witness(broker)
    for_a_day = topic_of_segments(broker, retention__ms=str(DAY_MS))
    for_no_time = topic_of_segments(broker, retention__ms="1")
    for topic in (for_a_day, for_no_time):
        append(broker, topic, timed(NO_TIMESTAMP, b"first"), timed(NO_TIMESTAMP, b"last"))
    with requirement("STOR-032"):
        begin = begin_once(broker, for_no_time, 2)
        assert begin == 2, f"written a millisecond ago: the log begins at {begin}, expected 2"
        witness.look()
        begin = begin_of(broker, for_a_day)
        assert begin == 0, f"written just now: the log begins at {begin}, expected 0"


@judges("STOR-004")
@needs_broker(Use.TUNED, OFTEN)
def test_retention_bytes_keeps_at_least_configured_bytes(broker: BrokerUnderTest) -> None:
    """Where the last three segments have just so many, they are all; with one less four stay."""
    values = [bytes(length) for length in (300, 100, 400, 150, 250, 200)]
    enough, too_few = range(2)
    wanted = sum(size_of(broker, aged(0, value)) for value in values[3:])
    witness = Witness(broker)
    topic = topic_of_segments(broker, 2, retention__bytes=str(wanted), retention__ms="-1")
    append_segments(broker, topic, [[value] for value in values], partition=enough)
    values[-1] = values[-1][1:]
    append_segments(broker, topic, [[value] for value in values], partition=too_few)
    with requirement("STOR-004") as check:
        for partition, expected in ((enough, 3), (too_few, 2)):
            with check.subtest(f"partition {partition}"):
                begin = begin_once(broker, topic, expected, partition)
                _expect_size(broker, topic, partition, begin, len(values), wanted)
        witness.look()
        for partition in (enough, too_few):
            with check.subtest(f"partition {partition}, later"):
                begin = begin_of(broker, topic, partition)
                _expect_size(broker, topic, partition, begin, len(values), wanted)


@judges("STOR-004")
@needs_broker(Use.TUNED, OFTEN)
def test_retention_bytes_of_minus_1_keeps_all_segments_and_of_0_none(
    broker: BrokerUnderTest,
) -> None:
    """Three closed segments and the active one: with 0 each of them has too many bytes."""
    witness = Witness(broker)
    unlimited = topic_of_segments(broker, retention__bytes="-1", retention__ms="-1")
    nothing = topic_of_segments(broker, retention__bytes="0", retention__ms="-1")
    for topic in (unlimited, nothing):
        append_segments(broker, topic, [[b"r"]] * 4)
    with requirement("STOR-004"):
        begin = begin_once(broker, nothing, 4)
        assert begin == 4, f"0 bytes are wanted, the log of 4 records begins at {begin}"
        witness.look()
        begin = begin_of(broker, unlimited)
        assert begin == 0, f"all bytes are wanted, the log begins at {begin}"


def _expect_size(
    broker: BrokerUnderTest, topic: Topic, partition: int, begin: int, end: int, wanted: int
) -> None:
    """At least the wanted bytes are left, and no whole segment more; each segment has one batch."""
    sizes = [len(each) for each in stored_entries(broker, topic, begin, end, partition)]
    told = f"{wanted} bytes are wanted, from {begin} on segments have {sizes}"
    assert sum(sizes) >= wanted, f"too much is gone: {told}"
    assert sum(sizes[1:]) < wanted, f"too much is left: {told}"


@judges("STOR-007")
@needs_broker(Use.TUNED, OFTEN)
def test_fully_expired_log_keeps_log_end_offset(broker: BrokerUnderTest) -> None:
    """It begins where it ends, and ends where it did; the next record gets that offset."""
    topic = topic_of_segments(broker, retention__ms=str(2 * DAY_MS))
    append_segments(broker, topic, [[b"r"] * 2] * 3, oldest_ms=3 * DAY_MS)
    with requirement("STOR-007"):
        _expect_ends(broker, topic, 6, 6, "all is too old")
        answer = broker.produce(topic, batch_of(b"next"))
        expect_error(answer.error_code, ErrorCode.NONE, "the next record")
        assert answer.base_offset == 6, f"the next record has offset {answer.base_offset}, not 6"
        _expect_ends(broker, topic, 6, 7, "then a new record came")
        found = records_of(broker.fetch(topic, 6))
        assert found == [(6, b"next")], f"a fetch at 6 brings {found}"


def _expect_ends(broker: BrokerUnderTest, topic: Topic, begin: int, end: int, when: str) -> None:
    found = begin_once(broker, topic, begin), broker.list_offset(topic, LATEST).offset
    assert found == (begin, end), f"{when}: earliest and latest are {found}, not {(begin, end)}"


@judges("STOR-026")
@needs_broker(Use.TUNED, OFTEN)
def test_segments_below_log_start_are_removed_and_others_stay(broker: BrokerUnderTest) -> None:
    """Deleted are two segments of two records, one and a half, and all; the active one stays.

    No record is too old, and no log too large.
    """
    broker.version("DescribeLogDirs")
    witness = Witness(broker)
    topic = topic_of_segments(broker, len(DELETED), retention__ms="-1", retention__bytes="-1")
    expected = {}
    for partition, (below, kept_from) in enumerate(DELETED):
        append_segments(broker, topic, [[b"first", b"second"]] * 4, partition=partition)
        entries = stored_entries(broker, topic, kept_from, 8, partition)
        expected[partition] = sum(map(len, entries))
        delete_records(broker, topic, below, partition=partition)
    with requirement("STOR-026"):
        sizes = broker.last_seen(lambda: _sizes(broker, topic), expected.__eq__, GONE_WITHIN_MS)
        assert sizes == expected, f"behind the log starts are {sizes} bytes, expected {expected}"
        witness.look()
        sizes = _sizes(broker, topic)
        assert sizes == expected, f"looked at again, the logs have {sizes}, expected {expected}"


def _sizes(broker: BrokerUnderTest, topic: Topic) -> dict[int, int]:
    """The size of each partition."""
    found = described(broker)
    return {
        partition: sum(one.size for one in places_of(found, topic.name, partition))
        for partition in range(len(DELETED))
    }


@judges("DELR-014")
@needs_broker(Use.TUNED, OFTEN)
def test_removal_of_segments_below_log_start_leaves_log_start(broker: BrokerUnderTest) -> None:
    """Three of six records are deleted; segments have two, and the first goes from the disk."""
    broker.version("DescribeLogDirs")
    topic = topic_of_segments(broker, retention__ms=str(3 * DAY_MS))
    append_segments(broker, topic, [[b"0", b"1"], [b"2", b"3"], [b"4", b"5"]])
    left = sum(map(len, stored_entries(broker, topic, 2, 6)))
    delete_records(broker, topic, WITHIN_SEGMENT)

    def is_removed() -> bool:
        return sum(one.size for one in places_of(described(broker), topic.name, 0)) == left

    broker.eventually(is_removed, f"{left} bytes are left", GONE_WITHIN_MS)
    with requirement("DELR-014"):
        begin = begin_of(broker, topic)
        told = f"earliest is {begin} after the removal, {WITHIN_SEGMENT} before it"
        assert begin == WITHIN_SEGMENT, told
        code = broker.fetch(topic, WITHIN_SEGMENT - 1).error_code
        expect_error(code, ErrorCode.OFFSET_OUT_OF_RANGE, "a fetch below the log start")
        found = [value for _, value in records_of(broker.fetch(topic, begin))]
        assert found[:1] == [b"3"], f"a fetch at the log start brings {found}"

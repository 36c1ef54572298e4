"""EPOCH: where leader epochs end (KIP-101, KIP-320)."""

from __future__ import annotations

from collections.abc import Iterable

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import NO_PARTITION, log_of_nine
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch

CONSUMER = -1
UNKNOWN = -1
NEWER_EPOCHS = (999, 2**31 - 1)
METADATA_WITH_EPOCHS = 7
MISSING = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
Partition = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
End = OffsetForLeaderEpochResponse.EpochEndOffset


def _ends(
    broker: BrokerUnderTest, wanted: Iterable[tuple[str, list[Partition]]], version: int
) -> dict[tuple[str, int], End]:
    """The result of each partition, all of one request, by topic and index."""
    entries = [
        OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=name, partitions=partitions)
        for name, partitions in wanted
    ]
    request = OffsetForLeaderEpochRequest(replica_id=CONSUMER, topics=entries)
    answer = broker.ask(request, version)
    return {
        (topic.topic, one.partition): one for topic in answer.topics for one in topic.partitions
    }


def _end_of(
    broker: BrokerUnderTest,
    topic: Topic,
    epoch: int,
    version: int,
    partition: int,
    current_epoch: int = UNKNOWN,
) -> End:
    asked = Partition(partition=partition, leader_epoch=epoch, current_leader_epoch=current_epoch)
    return _ends(broker, [(topic.name, [asked])], version)[topic.name, partition]


def _epoch_of(broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> int:
    """The leader epoch in Metadata; before 2.1, that of a new topic."""
    if METADATA_WITH_EPOCHS not in broker.advertised("Metadata"):
        return 0
    return told_leader_epoch(broker, topic, partition)


@judges("EPOCH-004")
@at_versions("OffsetForLeaderEpoch", "0+")
def test_offset_for_leader_epoch_with_newer_epoch_returns_minus_1(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of a log with records and of an empty one: -1/-1, and no error.

    Version 0 has no epoch in its answer. An epoch from before the first one that the log knows
    needs a leader that has changed.
    """
    topic = kept.topic(broker, log_of_nine)
    with requirement("EPOCH-004") as check:
        for partition in (0, 1):
            for epoch in NEWER_EPOCHS:
                with check.subtest(f"partition {partition}, epoch {epoch}"):
                    answer = _end_of(broker, topic, epoch, api_version, partition)
                    where = f"epoch {epoch}, partition {partition}"
                    expect_error(answer.error_code, ErrorCode.NONE, where)
                    found = (answer.leader_epoch, answer.end_offset)
                    assert found == (UNKNOWN, UNKNOWN), f"{where}: epoch and offset are {found}"


@judges("EPOCH-005")
@at_versions("OffsetForLeaderEpoch", "2+")
def test_offset_for_leader_epoch_with_newer_current_epoch_returns_unknown_leader_epoch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The leader's own epoch and -1 are served; a partition that is not there has no epoch."""
    topic = kept.topic(broker, log_of_nine)
    epoch = told_leader_epoch(broker, topic)
    with requirement("EPOCH-005") as check:
        for name, claimed, partition, code, end in (
            ("no epoch", UNKNOWN, 0, ErrorCode.NONE, 9),
            ("the leader's", epoch, 0, ErrorCode.NONE, 9),
            ("a negative one", -2, 0, ErrorCode.FENCED_LEADER_EPOCH, UNKNOWN),
            ("a newer one", epoch + 1, 0, ErrorCode.UNKNOWN_LEADER_EPOCH, UNKNOWN),
            ("unknown partition", epoch, NO_PARTITION, MISSING, UNKNOWN),
        ):
            with check.subtest(name):
                answer = _end_of(broker, topic, epoch, api_version, partition, claimed)
                where = f"current epoch {claimed}, partition {partition}, the leader's is {epoch}"
                expect_error(answer.error_code, code, where)
                assert answer.end_offset == end, f"{where}: end offset {answer.end_offset}"


@judges("EPOCH-002")
@at_versions("OffsetForLeaderEpoch", "0+")
def test_current_epoch_ends_at_log_end_after_delete_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Deleted inside of a batch, behind it, and up to the log's end; then a record more comes."""
    topic = log_of_nine(broker)
    epoch = _epoch_of(broker, topic)
    for below, more in ((2, 0), (6, 0), (9, 0), (9, 1)):
        delete_records(broker, topic, below)
        append(broker, topic, *[batch_of(b"behind")] * more)
        with requirement("EPOCH-002"):
            answer = _end_of(broker, topic, epoch, api_version, 0)
            where = f"deleted below {below}, {more} more"
            expect_error(answer.error_code, ErrorCode.NONE, where)
            found = answer.end_offset
            assert found == 9 + more, f"{where}: epoch {epoch} ends at {found}, not {9 + more}"
            told = answer.leader_epoch if api_version else epoch
            assert told == epoch, f"{where}: requested was epoch {epoch}, the answer has {told}"


def _three_and_five(broker: BrokerUnderTest) -> Topic:
    """Partitions with three and with five records, and an empty one."""
    topic = broker.create_topic(partitions=3)
    append(broker, topic, batch_of(*[b"x"] * 3), partition=0)
    append(broker, topic, batch_of(*[b"x"] * 5), partition=1)
    return topic


@judges("EPOCH-015")
@at_versions("OffsetForLeaderEpoch", "0+")
def test_each_partition_of_offset_for_leader_epoch_has_own_epoch_and_error(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two topics; own epochs, a newer one, and a partition that is not there."""
    nine, other = kept.topic(broker, log_of_nine), kept.topic(broker, _three_and_five)
    newer, unknown = NEWER_EPOCHS[0], (ErrorCode.NONE, UNKNOWN)
    cases: list[tuple[Topic, int, int | None, tuple[ErrorCode, int]]] = [
        (other, 1, None, (ErrorCode.NONE, 5)),
        (other, NO_PARTITION, 0, (MISSING, UNKNOWN)),
        (other, 2, newer, unknown),
        (other, 0, None, (ErrorCode.NONE, 3)),
        (nine, 1, newer, unknown),
        (nine, 0, None, (ErrorCode.NONE, 9)),
    ]
    wanted: dict[str, list[Partition]] = {}
    for topic, index, epoch, _ in cases:
        own = _epoch_of(broker, topic, index) if epoch is None else epoch
        wanted.setdefault(topic.name, []).append(Partition(partition=index, leader_epoch=own))
    with requirement("EPOCH-015") as check:
        found = _ends(broker, wanted.items(), api_version)
        for topic, index, _, (code, end) in cases:
            where = f"topic {(other, nine).index(topic)}, partition {index}"
            with check.subtest(where):
                assert (topic.name, index) in found, f"{where}: it is not answered"
                answer = found[topic.name, index]
                expect_error(answer.error_code, code, where)
                told = f"{where}: end offset {answer.end_offset}, expected {end}"
                assert answer.end_offset == end, told


@judges("EPOCH-015")
@at_versions("OffsetForLeaderEpoch", "0+")
def test_topic_in_two_entries_of_offset_for_leader_epoch_is_answered_for_both(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One entry has partition 1, the other one 0, with another topic between them."""
    twice, between = kept.topic(broker, _three_and_five), kept.topic(broker, log_of_nine)
    entries = [
        (topic.name, [Partition(partition=index, leader_epoch=_epoch_of(broker, topic, index))])
        for topic, index in ((twice, 1), (between, 0), (twice, 0))
    ]
    with requirement("EPOCH-015"):
        told = _ends(broker, entries, api_version)
        found = {key: (one.error_code, one.end_offset) for key, one in told.items()}
        ends = {(twice.name, 1): 5, (between.name, 0): 9, (twice.name, 0): 3}
        expected = {key: (ErrorCode.NONE, end) for key, end in ends.items()}
        assert found == expected, f"of three entries errors and ends are {found}, not {expected}"

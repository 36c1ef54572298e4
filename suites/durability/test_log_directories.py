"""LDIR: which directories a broker has, what is in them, and what is where no such thing is."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.durability.support.log_dirs import DescribedReplica, described, move, places_of
from suites.durability.support.segments import HOUR_MS, aged, stored_entries
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error

Place = tuple[str, int]
NOT_HERE = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.REPLICA_NOT_AVAILABLE)


@judges("LDIR-001")
@at_versions("DescribeLogDirs", "0-1", "2-3", "4+")
def test_describe_log_dirs_returns_partition_sizes_for_all_or_named_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One with two segments, one with nothing: by their names, and among all that there are."""
    filled, empty = broker.create_topic(configs={"segment.ms": "60000"}), broker.create_topic()
    append(broker, filled, aged(HOUR_MS, b"one", b"two"), batch_of(b"three" * 50))
    size = sum(len(entry) for entry in stored_entries(broker, filled, 0, 3))
    with requirement("LDIR-001") as check:
        for asked in (None, [filled.name], [filled.name, empty.name]):
            with check.subtest("all topics" if asked is None else f"{len(asked)} topics"):
                found = described(broker, asked, api_version)
                what = "asked for all" if asked is None else f"asked for {len(asked)} topics"
                for each in found:
                    expect_error(each.error_code, ErrorCode.NONE, f"{what}, {each.log_dir}")
                wanted = [(filled.name, size)]
                wanted += [(empty.name, 0)] if asked is None or empty.name in asked else []
                for name, bytes_there in wanted:
                    places = places_of(found, name)
                    assert len(places) == 1, (
                        f"{what}: a partition of {bytes_there} bytes is {places}"
                    )
                    expected = DescribedReplica(places[0].log_dir, bytes_there, 0, is_future=False)
                    assert places == [expected], f"{what}: {places}, not {expected}"
                if asked == [filled.name]:
                    strange = {t.name for d in found for t in d.topics if t.partitions} - {
                        filled.name
                    }
                    assert not strange, f"{what}: {sorted(strange)} are told too"


@judges("LDIR-001")
@at_versions("DescribeLogDirs", "0-1", "2-3", "4+")
def test_describe_log_dirs_for_all_topics_returns_size_of_each_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Four partitions of different sizes; the third is empty."""
    topic = broker.create_topic(partitions=4)
    for partition, count in enumerate((1, 3, 0, 2)):
        append(broker, topic, *[batch_of(b"sized")] * count, partition=partition)
    one = sum(map(len, stored_entries(broker, topic, 0, 1)))
    with requirement("LDIR-001"):
        found = described(broker, version=api_version)
        sizes = [
            [(each.size, each.lag, each.is_future) for each in places_of(found, topic.name, at)]
            for at in range(4)
        ]
        expected = [[(one * count, 0, False)] for count in (1, 3, 0, 2)]
        assert sizes == expected, f"(size, lag, is_future): {sizes}, expected {expected}"


@judges("LDIR-001")
@at_versions("DescribeLogDirs", "0-1", "2-3", "4+")
def test_describe_log_dirs_returns_all_partitions_of_topic_in_two_entries(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each entry names one partition, the third partition is in none; an entry without partitions
    stands for none."""
    topic, unnamed = broker.create_topic(partitions=3), broker.create_topic()
    entry = DescribeLogDirsRequest.DescribableLogDirTopic
    entries = [entry(topic=topic.name, partitions=[index]) for index in (0, 2)]
    entries.append(entry(topic=unnamed.name, partitions=[]))
    with requirement("LDIR-001"):
        answer = broker.ask(DescribeLogDirsRequest(topics=entries), api_version)
        found = sorted(
            (listed.name, part.partition_index)
            for each in answer.results
            for listed in each.topics
            for part in listed.partitions
        )
        expected = [(topic.name, 0), (topic.name, 2)]
        assert found == expected, f"named in two entries: {found}, expected {expected}"


@judges("LDIR-002")
@at_versions("DescribeLogDirs", "4+")
def test_describe_log_dirs_returns_total_and_usable_bytes(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The broker returns the size of the directory's volume and its free space."""
    with requirement("LDIR-002"):
        for each in described(broker, version=api_version):
            told = f"{each.log_dir}: {each.usable_bytes} of {each.total_bytes} bytes are usable"
            assert each.total_bytes > 0, told
            assert 0 < each.usable_bytes <= each.total_bytes, told


@judges("LDIR-005")
@at_versions("AlterReplicaLogDirs", "0-1", "2+")
def test_alter_replica_log_dirs_to_unknown_directory_or_replica_returns_error(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A path that is no log directory, a topic and a partition that do not exist; these also in one
    request with a replica that is there."""
    topic, unknown = broker.create_topic(), broker.unique_topic()
    there = described(broker, [topic.name])[0].log_dir
    with requirement("LDIR-005") as check:
        code = move(broker, topic.name, f"{there}-absent", api_version)
        expect_error(code, ErrorCode.LOG_DIR_NOT_FOUND, "a path that is no log directory")
        for name, partition in ((unknown, 0), (topic.name, 1)):
            with check.subtest(f"partition {partition}"):
                code = move(broker, name, there, api_version, partition)
                told = f"partition {partition} of {name}, which is not there"
                assert code in NOT_HERE, f"{told}: error is {ErrorCode.describe(code)}"
        with check.subtest("in one request"):
            found = _moved(broker, there, (topic.name, 0), (topic.name, 1), (unknown, 0))
            wrong = {
                place: ErrorCode.describe(code)
                for place, code in found.items()
                if (code in NOT_HERE) == (place == (topic.name, 0))
            }
            told = f"partition 0 of {topic.name} alone is there, the errors are"
            assert not wrong, f"{told} {found}, wrong are {wrong}"
            expect_error(found[topic.name, 0], ErrorCode.NONE, "a replica to its own directory")


def _moved(broker: BrokerUnderTest, path: str, *places: tuple[str, int]) -> dict[Place, int]:
    """Ask in one request that these partitions be moved; return their error codes."""
    kinds = AlterReplicaLogDirsRequest
    partitions: dict[str, list[int]] = {}
    for name, partition in places:
        partitions.setdefault(name, []).append(partition)
    topics = [
        kinds.AlterReplicaLogDirTopic(name=name, partitions=each)
        for name, each in partitions.items()
    ]
    answer = broker.ask(kinds(dirs=[kinds.AlterReplicaLogDir(path=path, topics=topics)]))
    return {
        (topic.topic_name, part.partition_index): part.error_code
        for topic in answer.results
        for part in topic.partitions
    }

"""Whole answers about the logs of partitions: Fetch, ListOffsets, epochs, producers, sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.client.broker import BrokerUnderTest
from harness.client.requests import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_of,
)
from harness.codec.messages import (
    DescribeLogDirsRequest,
    DescribeProducersRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
)
from suites.protocol.support.rich_logs import partitions_of
from suites.protocol.support.whole_answers import WholeAnswers, whole_answer

Logs = Mapping[Topic, int]
"""Topics with their numbers of partitions."""

FIRST_LIST_OFFSETS_OF_MAX, FIRST_OF_ISOLATION = 7, 2
ONE_BATCH_BYTES, ALL_BYTES = 1, 1 << 20
NO_EPOCH = -1
DEBUGGER = -2  # the replica id of a client that is no replica


def fetched(client: BrokerUnderTest, logs: Logs, version: int | None = None) -> WholeAnswers:
    """Fetch at each offset of each log the batch with this offset, then the whole log twice.

    At this ``version``, or the highest that can name the topic.
    """
    name, answers = "Fetch" if version is None else f"Fetch v{version}", WholeAnswers()
    for topic, partition in partitions_of(logs):
        end = client.end_offset(topic, partition)
        where = f"{topic.name}-{partition}"
        for offset in range(end + 2):  # the end, and one behind it
            question = f"{name} {where} at {offset}"
            answers |= _fetch(client, topic, partition, offset, question, version)
        for isolation in (0, 1):
            question = f"{name} {where} with isolation {isolation}"
            start = client.list_offset(topic, EARLIEST, partition=partition).offset
            answers |= _fetch(
                client, topic, partition, start, question, version, ALL_BYTES, isolation
            )
    return answers


def _fetch(
    client: BrokerUnderTest,
    topic: Topic,
    partition: int,
    offset: int,
    question: str,
    version: int | None = None,
    max_bytes: int = ONE_BATCH_BYTES,
    isolation: int = 0,
) -> WholeAnswers:
    version = client.reading_version(topic) if version is None else version
    wanted = fetch_partition(offset, partition=partition, partition_max_bytes=max_bytes)
    request = fetch_request([fetch_topic(topic, version, [wanted])], isolation_level=isolation)
    return whole_answer(question, client.ask(request, version), version)


def offsets_by_time(client: BrokerUnderTest, logs: Logs, times_ms: Iterable[int]) -> WholeAnswers:
    """Answers of ListOffsets: the special times, each time, and its neighbours.

    The isolation levels answer alike, for no transaction is open: one is asked for the neighbours.
    """
    version = client.version("ListOffsets", "1+")
    special = {"latest": LATEST, "earliest": EARLIEST}
    if version >= FIRST_LIST_OFFSETS_OF_MAX:
        special["largest"] = MAX_TIMESTAMP
    times = set(times_ms)
    near = {time + by for time in times for by in (-1, 0, 1)}
    asked = {0: near, 1: times} if version >= FIRST_OF_ISOLATION else {0: near}
    indexes = {topic: range(count) for topic, count in logs.items()}
    answers: WholeAnswers = {}
    for isolation, each in asked.items():
        for name, time_ms in (special | {f"at {time}": time for time in sorted(each)}).items():
            request = list_offsets_of(indexes, time_ms, isolation)
            answer = client.ask(request, version)
            if time_ms == EARLIEST:
                _without_epochs_of_empty_logs(client, answer)
            question = f"ListOffsets {name} with isolation {isolation}"
            answers |= whole_answer(question, answer, version)
    return answers


def _without_epochs_of_empty_logs(client: BrokerUnderTest, answer: ListOffsetsResponse) -> None:
    """The first offset of a log without records has the epoch of the leader, which may grow."""
    for topic in answer.topics:
        for one in topic.partitions:
            if one.offset == client.end_offset(Topic(topic.name), one.partition_index):
                one.leader_epoch = NO_EPOCH


def epoch_ends(client: BrokerUnderTest, logs: Logs, epochs: Iterable[int]) -> WholeAnswers:
    """Answers of OffsetForLeaderEpoch: the end of each epoch."""
    version = client.version("OffsetForLeaderEpoch")
    answers: WholeAnswers = {}
    for epoch in epochs:
        asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
        topics = [
            OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
                topic=topic.name,
                partitions=[asked(partition=at, leader_epoch=epoch) for at in range(count)],
            )
            for topic, count in logs.items()
        ]
        request = OffsetForLeaderEpochRequest(replica_id=DEBUGGER, topics=topics)
        question = f"OffsetForLeaderEpoch of {epoch}"
        answers |= whole_answer(question, client.ask(request, version), version)
    return answers


def producers(client: BrokerUnderTest, logs: Logs) -> WholeAnswers:
    """Return the answer of DescribeProducers."""
    version = client.version("DescribeProducers")
    topics = [
        DescribeProducersRequest.TopicRequest(name=topic.name, partition_indexes=list(range(count)))
        for topic, count in logs.items()
    ]
    answer = client.ask(DescribeProducersRequest(topics=topics), version)
    return whole_answer("DescribeProducers", answer, version)


def log_sizes(client: BrokerUnderTest, logs: Logs) -> WholeAnswers:
    """Return the answer of DescribeLogDirs."""
    version = client.version("DescribeLogDirs")
    topics = [
        DescribeLogDirsRequest.DescribableLogDirTopic(
            topic=topic.name, partitions=list(range(count))
        )
        for topic, count in logs.items()
    ]
    answer = client.ask(DescribeLogDirsRequest(topics=topics), version)
    return whole_answer("DescribeLogDirs", answer, version)

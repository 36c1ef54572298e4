"""META: the most partitions of one page of DescribeTopicPartitions, and topics at its end."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.internal_topics import OFFSETS_TOPIC, internal_topic
from suites.protocol.support.kept_topics import KeptTopics

DESCRIBE = api_named("DescribeTopicPartitions")
MOST = 3
Pages = DescribeTopicPartitionsRequest
Answer = DescribeTopicPartitionsResponse


def _page(
    broker: BrokerUnderTest,
    version: int,
    names: list[str],
    limit: int,
    cursor: Pages.Cursor | None = None,
) -> Answer:
    topics = [Pages.TopicRequest(name=name) for name in names]
    request = Pages(topics=topics, response_partition_limit=limit, cursor=cursor)
    return broker.ask(request, version)


def _indexes(page: Answer) -> list[int]:
    return [one.partition_index for topic in page.topics for one in topic.partitions]


def _next(page: Answer) -> tuple[str, int] | None:
    cursor = page.next_cursor
    return None if cursor is None else (cursor.topic_name, cursor.partition_index)


def _five(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(partitions=5)


@judges("META-038")
@needs_broker(Use.OWN, {"max.request.partition.size.limit": str(MOST)})
def test_describe_topic_partitions_returns_at_most_partitions_of_own_limit(
    broker: BrokerUnderTest,
) -> None:
    """The limit of the request below, at and above that of the broker; then two topics, each
    smaller than the page.
    """
    version, topic = broker.version("DescribeTopicPartitions"), _five(broker)
    prefix = broker.unique_topic()
    two = [broker.create_topic(partitions=2, name=f"{prefix}-{end}").name for end in "ab"]
    with requirement("META-038", api_key=DESCRIBE.key, api_version=version) as check:
        for limit in (MOST - 1, MOST, MOST + 1, 2_000):
            with check.subtest(f"limit {limit}"):
                page, size = _page(broker, version, [topic.name], limit), min(limit, MOST)
                told = f"limit {limit}, the broker's is {MOST}: partitions {_indexes(page)}"
                assert _indexes(page) == list(range(size)), told
                assert _next(page) == (topic.name, size), f"{told}, then {_next(page)}"
        with check.subtest("two topics"):
            page = _page(broker, version, two, MOST + 1)
            told = f"two topics, limit {MOST + 1}, the broker's is {MOST}: {_indexes(page)}"
            assert _indexes(page) == [0, 1, 0], told
            assert _next(page) == (two[-1], 1), f"{told}, then {_next(page)}"


@judges("META-038")
@at_versions("DescribeTopicPartitions")
def test_describe_topic_partitions_returns_one_partition_for_limit_below_one(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """0 and negative numbers."""
    topic = kept.topic(broker, _five)
    with requirement("META-038") as check:
        for limit in (0, -1, -(2**31)):
            with check.subtest(f"limit {limit}"):
                page = _page(broker, api_version, [topic.name], limit)
                told = f"limit {limit}: partitions {_indexes(page)}, then {_next(page)}"
                assert _indexes(page) == [0], told
                assert _next(page) == (topic.name, 1), told


@judges("META-039")
@at_versions("DescribeTopicPartitions")
def test_describe_topic_partitions_returns_unknown_topic_behind_full_page_on_next_page(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two unknown topics behind one that fills the page, one before it."""
    prefix = broker.unique_topic()
    before, full, *behind = (f"{prefix}-{end}" for end in "abcd")
    broker.create_topic(partitions=2, name=full)
    names = [before, full, *behind]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with requirement("META-039"):
        page = _page(broker, api_version, names, 2)
        found = [(topic.name, topic.error_code) for topic in page.topics]
        assert found == [(before, unknown), (full, ErrorCode.NONE)], f"the full page: {found}"
        assert _next(page) == (behind[0], 0), f"behind the full page comes {_next(page)}"
        page = _page(
            broker, api_version, names, 2, Pages.Cursor(topic_name=behind[0], partition_index=0)
        )
        found = [(topic.name, topic.error_code) for topic in page.topics]
        assert found == [(name, unknown) for name in behind], f"the next page: {found}"
        assert _next(page) is None, f"behind the last page comes {_next(page)}"


@judges("META-039")
@at_versions("DescribeTopicPartitions")
def test_describe_topic_partitions_without_names_returns_internal_topics_too(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A user's topic and that of the group coordinator, each marked as what it is."""
    internal_topic(broker, OFFSETS_TOPIC)
    topic = kept.topic(broker, _five)
    with requirement("META-039"):
        shown = _all_shown(broker, api_version)
        found = {name: shown.get(name) for name in (topic.name, OFFSETS_TOPIC)}
        expected = {topic.name: False, OFFSETS_TOPIC: True}
        assert found == expected, f"is_internal of the listed topics: {found}"


def _all_shown(broker: BrokerUnderTest, version: int) -> dict[str | None, bool]:
    """Return the topics of all pages without names, each with its mark of an internal topic."""
    shown: dict[str | None, bool] = {}
    place: tuple[str, int] | None = ("", 0)
    while place is not None:
        cursor = Pages.Cursor(topic_name=place[0], partition_index=place[1])
        page = _page(broker, version, [], 2_000, cursor if shown else None)
        shown.update({topic.name: topic.is_internal for topic in page.topics})
        place = _next(page)
    return shown

"""META: DescribeCluster and DescribeTopicPartitions, compared with Metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeClusterRequest,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.gone_topics import delete_topic
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.topic_admin import expect_not_created

NOT_ASKED = -(2**31)
CONTROLLERS, NO_ENDPOINT_TYPE = 2, 9
REFUSALS = {
    CONTROLLERS: ErrorCode.MISMATCHED_ENDPOINT_TYPE,
    NO_ENDPOINT_TYPE: ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
}
Pages = DescribeTopicPartitionsRequest
Place = tuple[str | None, int]


# -- DescribeCluster -------------------------------------------------------------------------------


@judges("META-030")
@at_versions("DescribeCluster")
def test_describe_cluster_returns_cluster_id_and_brokers_of_metadata(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Cluster id and brokers are equal; the controller too, or another one of several brokers.

    Brokers of KRaft name one of the living at random, so that several may be named.
    """
    expected = broker.metadata([], broker.version("Metadata", "2+"))
    with requirement("META-030"):
        answer = broker.ask(DescribeClusterRequest(), api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        assert answer.cluster_id == expected.cluster_id, (
            f"cluster id {answer.cluster_id!r}, Metadata has {expected.cluster_id!r}"
        )
        found = {(b.broker_id, b.host, b.port, b.rack) for b in answer.brokers}
        shown = {(b.node_id, b.host, b.port, b.rack) for b in expected.brokers}
        assert found == shown, f"brokers {found}, Metadata has {shown}"
        ids = [b.broker_id for b in answer.brokers]
        controllers = ids if len(ids) > 1 else [expected.controller_id]
        assert answer.controller_id in controllers, (
            f"controller {answer.controller_id}, not in {controllers}"
        )


@judges("META-030")
@at_versions("DescribeCluster")
@pytest.mark.parametrize("asked", [False, True], ids=["not-asked", "asked"])
def test_describe_cluster_returns_authorized_operations_only_on_request(
    broker: BrokerUnderTest, api_version: int, asked: bool
) -> None:
    """The authorized operations are the bits in Metadata; the lowest number: "not asked"."""
    request = DescribeClusterRequest(include_cluster_authorized_operations=asked)
    version = broker.version("Metadata", "8-10")
    metadata = MetadataRequest(topics=[], include_cluster_authorized_operations=asked)
    expected = broker.ask(metadata, version).cluster_authorized_operations
    with requirement("META-030"):
        answer = broker.ask(request, api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        found = answer.cluster_authorized_operations
        assert (found != NOT_ASKED) is asked, f"asked: {asked}, authorized operations: {found}"
        assert found == expected, f"authorized operations {found}, Metadata has {expected}"


@judges("META-031")
@at_versions("DescribeCluster", "1+")
@pytest.mark.parametrize("endpoint_type", REFUSALS, ids=["controllers", "unknown"])
def test_describe_cluster_of_non_broker_endpoint_type_is_refused(
    broker: BrokerUnderTest, api_version: int, endpoint_type: int
) -> None:
    """An endpoint type other than that of brokers is refused, and describes no broker."""
    with requirement("META-031"):
        answer = broker.ask(DescribeClusterRequest(endpoint_type=endpoint_type), api_version)
        what = f"endpoint type {endpoint_type}"
        expect_error(answer.error_code, REFUSALS[endpoint_type], what)
        assert not answer.brokers, f"{what}: refused, and described are {answer.brokers}"


# -- DescribeTopicPartitions -----------------------------------------------------------------------


def _sized(partitions: int) -> Callable[[BrokerUnderTest], Topic]:
    return lambda broker: broker.create_topic(partitions=partitions)


TOPICS = (_sized(3), _sized(1), _sized(2))


def _pages(
    broker: BrokerUnderTest, names: list[str], limit: int, version: int
) -> Iterator[DescribeTopicPartitionsResponse]:
    """Yield all pages, each from the cursor of the one before."""
    cursor: Pages.Cursor | None = None
    while True:
        topics = [Pages.TopicRequest(name=name) for name in names]
        request = Pages(topics=topics, response_partition_limit=limit, cursor=cursor)
        page = broker.ask(request, version)
        yield page
        if page.next_cursor is None:
            return
        name, index = page.next_cursor.topic_name, page.next_cursor.partition_index
        cursor = Pages.Cursor(topic_name=name, partition_index=index)


def _places(page: DescribeTopicPartitionsResponse) -> list[Place]:
    return [(topic.name, one.partition_index) for topic in page.topics for one in topic.partitions]


@judges("META-028")
@at_versions("DescribeTopicPartitions")
@pytest.mark.parametrize("limit", [1, 2, 4, 100])
def test_describe_topic_partitions_pages_return_each_partition_once(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, limit: int
) -> None:
    """No page is longer than asked for; together they hold each partition once, in order."""
    sizes: list[Place] = []
    for make in TOPICS:
        topic = kept.topic(broker, make)
        shown = only(broker.metadata([topic.name]).topics, "topic")
        sizes.append((topic.name, len(shown.partitions)))
    sizes.sort(reverse=True)  # not the order in which they have to come
    expected = sorted((name, index) for name, count in sizes for index in range(count))
    names = [name for name, _ in sizes if name is not None]
    with requirement("META-028"):
        pages = list(islice(_pages(broker, names, limit, api_version), 2 * len(expected)))
        found = [place for page in pages for place in _places(page)]
        assert found == expected, f"pages of {limit}: {found}, there are {expected}"
        lengths = [len(_places(page)) for page in pages]
        full = [limit] * (len(expected) // limit)
        rest = [len(expected) % limit] if len(expected) % limit else []
        assert lengths == full + rest, f"pages of {lengths} partitions where {limit} was the limit"
        empty = [topic.name for page in pages for topic in page.topics if not topic.partitions]
        assert not empty, f"pages of {limit} have topics without partitions: {empty}"


@judges("META-028")
@at_versions("DescribeTopicPartitions")
def test_describe_topic_partitions_sorts_names_by_their_characters(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Capital letters come before the underscore and small letters, in pages of one partition."""
    prefix = broker.unique_topic()
    names = [broker.create_topic(name=f"{prefix}-{end}").name for end in ("b", "C", "_", "a", "B")]
    expected = [(f"{prefix}-{end}", 0) for end in ("B", "C", "_", "a", "b")]
    with requirement("META-028"):
        pages = islice(_pages(broker, names, 1, api_version), 2 * len(names))
        found = [place for page in pages for place in _places(page)]
        assert found == expected, f"pages of 1: {found}, expected {expected}"


@judges("META-028")
@at_versions("DescribeTopicPartitions")
def test_describe_topic_partitions_starts_at_cursor(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The response leaves out partitions before the cursor."""
    topic = kept.topic(broker, TOPICS[0])
    request = Pages(
        topics=[Pages.TopicRequest(name=topic.name)],
        cursor=Pages.Cursor(topic_name=topic.name, partition_index=1),
    )
    with requirement("META-028"):
        page = broker.ask(request, api_version)
        expected = [(topic.name, 1), (topic.name, 2)]
        assert _places(page) == expected, f"{_places(page)}, from the cursor on {expected}"
        assert page.next_cursor is None, f"nothing is left, next cursor is {page.next_cursor}"


@judges("META-028")
@at_versions("DescribeTopicPartitions")
@pytest.mark.parametrize("names_topics", [True, False], ids=["named topics", "all topics"])
def test_describe_topic_partitions_after_cursor_of_deleted_topic_starts_at_next_topic(
    broker: BrokerUnderTest, api_version: int, names_topics: bool
) -> None:
    """The topic of the cursor is deleted between two pages: the next topic comes from partition 0
    on, not from the partition of the cursor."""
    name = broker.unique_topic()
    gone, after = (broker.create_topic(partitions=3, name=f"{name}-{end}") for end in "ab")
    delete_topic(broker, gone)
    request = Pages(
        topics=[Pages.TopicRequest(name=each.name) for each in (gone, after) if names_topics],
        response_partition_limit=3,
        cursor=Pages.Cursor(topic_name=gone.name, partition_index=1),
    )
    with requirement("META-028"):
        found = _places(broker.ask(request, api_version))
        expected = [(after.name, index) for index in range(3)]
        assert found == expected, f"after a deleted topic: {found}, expected {expected}"


@judges("META-034")
@at_versions("DescribeTopicPartitions")
def test_describe_topic_partitions_returns_error_for_unknown_and_illegal_names(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Beside a topic that exists, which is returned whole; the unknown topic is not created."""
    topic, unknown = kept.topic(broker, TOPICS[0]), broker.unique_topic()
    illegal = f"{unknown}/b"
    request = Pages(topics=[Pages.TopicRequest(name=name) for name in (unknown, illegal)])
    request.topics.insert(1, Pages.TopicRequest(name=topic.name))
    with requirement("META-034"):
        found = {each.name: each for each in broker.ask(request, api_version).topics}
        assert found.keys() == {topic.name, unknown, illegal}, f"names in the answer: {[*found]}"
        expect_error(found[unknown].error_code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "unknown")
        expect_error(found[illegal].error_code, ErrorCode.INVALID_TOPIC_EXCEPTION, "illegal")
        expect_error(found[topic.name].error_code, ErrorCode.NONE, "a topic beside them")
        shown = found[topic.name]
        indexes = [each.partition_index for each in shown.partitions]
        assert (shown.topic_id, indexes) == (topic.id, [0, 1, 2]), f"its id and partitions: {shown}"
        expect_not_created(broker, unknown)


@judges("META-034")
@at_versions("DescribeTopicPartitions")
@pytest.mark.parametrize("cursor", ["of another topic", "at partition -1"])
def test_describe_topic_partitions_with_invalid_cursor_returns_invalid_request(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, cursor: str
) -> None:
    """The cursor has a topic that the request does not name, or no partition."""
    topic, other = (kept.topic(broker, make) for make in TOPICS[:2])
    of, index = (other.name, 0) if cursor == "of another topic" else (topic.name, -1)
    request = Pages(
        topics=[Pages.TopicRequest(name=topic.name)],
        cursor=Pages.Cursor(topic_name=of, partition_index=index),
    )
    with requirement("META-034"):
        shown = broker.ask(request, api_version).topics
        errors = [each.error_code for each in shown]
        assert errors == [ErrorCode.INVALID_REQUEST], f"a cursor {cursor}: errors are {errors}"

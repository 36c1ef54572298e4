"""Pages of topics, in the order of their names.

Source: KIP-966; classes DescribeTopicPartitionsRequestHandler, KRaftMetadataCache.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.topics.topic import TopicState

Place = tuple[str, int]
"""A topic's name and the index of one of its partitions."""


@dataclass(frozen=True, slots=True)
class TopicPart:
    """The partitions of one topic on a page; `topic` is None if it does not exist."""

    name: str
    topic: TopicState | None
    partitions: list[Partition]


@dataclass(slots=True)
class TopicPage:
    """A page; `next_place` is the begin of the next page, None on the last one."""

    parts: list[TopicPart] = field(default_factory=list)
    next_place: Place | None = None


def topic_page(names: Iterable[str], cluster: ClusterState, first: Place, limit: int) -> TopicPage:
    """Return a page of at most `limit` partitions of the named topics, from `first` on.

    An unknown topic takes no room on a page, but none follows the page's last partition.
    """
    page, left = TopicPage(), limit
    for name in sorted(name for name in names if name >= first[0]):
        if not left:
            page.next_place = (name, 0)
            break
        topic = cluster.named(name)
        if topic is None:
            page.parts.append(TopicPart(name, None, []))
            continue
        begin = first[1] if name == first[0] else 0
        partitions = topic.partitions[begin : begin + left]
        page.parts.append(TopicPart(name, topic, partitions))
        if begin + left < len(topic.partitions):
            page.next_place = (name, begin + left)
            break
        left -= len(partitions)
    return page

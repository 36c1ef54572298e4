import random

import pytest

from harness.base.ids import BrokerId
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.topics.topic_pages import Place, TopicPage, topic_page

ANY_TIME_MS = 1000
SIZES = {"b": 3, "a": 2, "c": 1}


@pytest.fixture
def cluster() -> ClusterState:
    made, chance = ClusterState(ProducerExpiration(ANY_TIME_MS, ANY_TIME_MS)), random.Random(1)
    for name, partitions in SIZES.items():
        made.create(name, TopicConfig.of({}, {}), partitions, (BrokerId(1),), chance)
    return made


def places(page: TopicPage) -> list[tuple[str, list[int]]]:
    return [(part.name, [one.index for one in part.partitions]) for part in page.parts]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6, 100])
def test_pages_contain_each_partition_once_in_order_of_names(
    cluster: ClusterState, limit: int
) -> None:
    place: Place | None = ("", 0)
    found: list[Place] = []
    sizes: list[int] = []
    while place is not None:
        page = topic_page(SIZES, cluster, place, limit)
        here: list[Place] = [(n, index) for n, indexes in places(page) for index in indexes]
        found, place = found + here, page.next_place
        sizes.append(len(here))
    assert found == [(name, index) for name in sorted(SIZES) for index in range(SIZES[name])]
    assert sizes[:-1] == [limit] * (len(sizes) - 1)


def test_full_page_names_next_topic(cluster: ClusterState) -> None:
    page = topic_page(SIZES, cluster, ("", 0), 2)
    assert (places(page), page.next_place) == ([("a", [0, 1])], ("b", 0))


def test_unknown_topic_does_not_count_for_page_limit(cluster: ClusterState) -> None:
    page = topic_page([*SIZES, "aa"], cluster, ("", 0), 3)
    assert (places(page), page.next_place) == ([("a", [0, 1]), ("aa", []), ("b", [0])], ("b", 1))


def test_cursor_after_last_partition_gives_empty_part(cluster: ClusterState) -> None:
    page = topic_page(SIZES, cluster, ("b", 7), 100)
    assert (places(page), page.next_place) == ([("b", []), ("c", [0])], None)


def test_cursor_between_names_begins_with_next_topic(cluster: ClusterState) -> None:
    assert places(topic_page(SIZES, cluster, ("bb", 5), 100)) == [("c", [0])]

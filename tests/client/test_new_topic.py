"""The broker that creates a topic for a broker of a cluster, against scripted brokers."""

from __future__ import annotations

import pytest

from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.new_topic import make_topic
from harness.codec.messages import CreateTopicsRequest, CreateTopicsResponse, MetadataResponse
from tests.client.scripted import Peer, scripted

FETCH, METADATA, CREATE_TOPICS = 1, 3, 19
NEW = (4, 16)
"""Versions of Fetch, as 3.7 has them."""
RETENTION = ("retention.ms", "5")
Partition = MetadataResponse.MetadataResponsePartition


def wanted_of(node: int | None, fetch: tuple[int, int] = NEW) -> CreateTopicsRequest.CreatableTopic:
    """Return the topic of a CreateTopics request, for two partitions with a setting."""
    asked: list[CreateTopicsRequest.CreatableTopic] = []

    def script(peer: Peer) -> None:
        correlation_id, request = peer.read_request()
        assert isinstance(request, CreateTopicsRequest)
        asked.extend(request.topics)
        result = CreateTopicsResponse.CreatableTopicResult(name="t")
        peer.answer(CreateTopicsResponse(topics=[result]), 4, correlation_id)
        peer.read_to_end()

    with scripted(script) as address:
        served = {FETCH: fetch, CREATE_TOPICS: (4, 4)}
        client = BrokerUnderTest([address], served, node=node)
        make_topic(client, "t", 2, dict([RETENTION]))
        client.close()
    (topic,) = asked
    return topic


def configs_of(topic: CreateTopicsRequest.CreatableTopic) -> list[tuple[str, str | None]]:
    return [(one.name, one.value) for one in topic.configs]


def test_new_topic_of_cluster_places_all_partitions_on_given_broker() -> None:
    topic = wanted_of(7)
    placed = {one.partition_index: one.broker_ids for one in topic.assignments}
    assert placed == {0: [7], 1: [7]}
    assert (topic.num_partitions, topic.replication_factor) == (-1, -1)
    assert configs_of(topic) == [RETENTION]


def test_new_topic_of_single_broker_has_no_assignments() -> None:
    topic = wanted_of(None, fetch=(0, 3))
    assert configs_of(topic) == [RETENTION]
    assert not topic.assignments
    assert (topic.num_partitions, topic.replication_factor) == (2, 1)


def test_new_topic_before_3_7_sets_min_insync_replicas_to_1() -> None:
    assert configs_of(wanted_of(7, fetch=(0, 15))) == [("min.insync.replicas", "1"), RETENTION]


@pytest.mark.parametrize(("node", "elsewhere"), [(None, ""), (2, r"\{1: 3\}"), (3, r"\{0: 2\}")])
def test_topic_auto_created_on_other_broker_raises_api_not_advertised(
    node: int | None, elsewhere: str
) -> None:
    """Of three partitions on the brokers 2, 3, 4 two are wanted."""
    partitions = [Partition(partition_index=each, leader_id=2 + each) for each in range(3)]
    topic = MetadataResponse.MetadataResponseTopic(name="t", partitions=partitions)

    def script(peer: Peer) -> None:
        peer.answer(MetadataResponse(topics=[topic]), 9, peer.read_request()[0])
        peer.read_to_end()

    with scripted(script) as address:
        client = BrokerUnderTest([address], {METADATA: (0, 9)}, node=node)
        if elsewhere:
            with pytest.raises(ApiNotAdvertised, match=f"a topic on broker {node}.*{elsewhere}"):
                make_topic(client, "t", 2, {})
        else:
            make_topic(client, "t", 2, {})
        client.close()

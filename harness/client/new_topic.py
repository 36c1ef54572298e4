"""The creation of a topic at the broker under test: by request, through ZooKeeper, or by itself.

In a cluster the leaders are this broker, so that tests of one broker run there too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.client.cluster_topics import creatable
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.errors import ApiNotAdvertised, PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, MetadataResponse

if TYPE_CHECKING:
    from harness.client.broker import BrokerUnderTest

ALONE = {"min.insync.replicas": "1"}
"""Where brokers want more, a topic with one replica takes nothing with acks=all before 3.7."""
COUNTS_REPLICAS = 16  # this version of Fetch came with 3.7 too
MetadataTopic = MetadataResponse.MetadataResponseTopic


def make_topic(
    client: BrokerUnderTest,
    name: str,
    partitions: int,
    configs: Mapping[str, str],
    *,
    exactly: bool = False,
) -> None:
    """Create a topic with one replica of each partition, on this broker where there are others.

    Where CreateTopics is not served, the topic maker creates it. A broker without either creates it
    at a request for Metadata, perhaps with more partitions than wanted (not with ``exactly``), in a
    cluster perhaps elsewhere. Raises ApiNotAdvertised where that will not do, PreparationFailed
    when the broker refuses.
    """
    if client.advertised("CreateTopics"):
        _ask_for_topic(client, name, partitions, _with_own(client, configs))
    elif client.topic_maker is not None:
        client.topic_maker.make(name, partitions, _with_own(client, configs), node=client.node)
        _await_shown(client, name, partitions)
    else:
        _have_topic_made(client, name, partitions, configs, exactly=exactly)


def _with_own(client: BrokerUnderTest, configs: Mapping[str, str]) -> Mapping[str, str]:
    counts = client.node is None or COUNTS_REPLICAS in client.advertised("Fetch")
    return configs if counts else {**ALONE, **configs}


def _ask_for_topic(
    client: BrokerUnderTest, name: str, partitions: int, configs: Mapping[str, str]
) -> None:
    entry = creatable(name, [] if client.node is None else [[client.node]] * partitions, configs)
    if client.node is None:
        entry.num_partitions, entry.replication_factor = partitions, 1
    timeout_ms = int(client.scaled_ms(DEFAULT_TIMEOUT_MS))
    answer = client.ask(CreateTopicsRequest(topics=[entry], timeout_ms=timeout_ms))
    code = only(answer.topics, "topic").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"CreateTopics {name}: {ErrorCode.describe(code)}", code)


def _await_shown(client: BrokerUnderTest, name: str, partitions: int) -> None:
    """Wait until Metadata shows the topic with a leader of each partition."""

    def shown() -> bool:
        topic = client.metadata([name]).topics[0]
        leaders = [each for each in topic.partitions if each.leader_id >= 0]
        return topic.error_code == ErrorCode.NONE and len(leaders) == partitions

    client.eventually(shown, f"{name} is shown with {partitions} partitions")


def _have_topic_made(
    client: BrokerUnderTest,
    name: str,
    partitions: int,
    configs: Mapping[str, str],
    *,
    exactly: bool,
) -> None:
    """Create a topic by auto-creation, the only way where CreateTopics is not advertised."""
    if configs:
        raise ApiNotAdvertised("CreateTopics is needed for a topic with settings of its own")
    made = client.eventually(
        lambda: next(
            (
                topic
                for topic in client.metadata([name], auto_create=True).topics
                if topic.error_code == ErrorCode.NONE
            ),
            None,
        ),
        f"{name} is made by auto-creation, as CreateTopics is not advertised",
    )
    found = len(made.partitions)
    if found < partitions or (exactly and found > partitions):
        raise ApiNotAdvertised(
            f"CreateTopics is needed for {partitions} partitions; auto-creation made {found}"
        )
    _expect_here(client, made, partitions)


def _expect_here(client: BrokerUnderTest, made: MetadataTopic, partitions: int) -> None:
    """Raise ApiNotAdvertised where another broker leads: requests to this one would be in vain."""
    elsewhere = {
        each.partition_index: each.leader_id
        for each in made.partitions
        if each.partition_index < partitions and each.leader_id != client.node
    }
    if client.node is not None and elsewhere:
        raise ApiNotAdvertised(
            f"CreateTopics is needed for a topic on broker {client.node}; auto-creation chose "
            f"(partition: leader) {elsewhere}"
        )

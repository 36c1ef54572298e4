"""META: topics that have grown, among all topics, and ids of topics that the broker has made."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest, MetadataResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.internal_topics import OFFSETS_TOPIC, internal_topic
from suites.protocol.support.topic_admin import ask_to_grow, described

Asked = MetadataRequest.MetadataRequestTopic


def _among_all(broker: BrokerUnderTest, version: int, name: str) -> list[int]:
    """Return the partitions of the topic in the list of all topics."""
    answer: MetadataResponse = broker.ask(MetadataRequest(topics=None), version)
    shown = [topic for topic in answer.topics if topic.name == name]
    assert len(shown) == 1, f"{name} is {len(shown)} times in the list of all topics"
    return sorted(one.partition_index for one in shown[0].partitions)


@judges("META-004")
@at_versions("Metadata", "1+")
def test_metadata_of_all_topics_has_added_partitions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Requested before a topic grows, and when a request by its name shows the growth."""
    growing = broker.version("CreatePartitions")
    name = broker.create_topic().name
    here = None if broker.node is None else [[broker.node]]
    with requirement("META-004"):
        found = _among_all(broker, api_version, name)
        assert found == [0], f"a topic of one partition has {found} among all topics"
        results = ask_to_grow(broker, growing, (name, 2), assignments=here)
        results.expect(name, ErrorCode.NONE, "CreatePartitions")
        described(broker, name, partitions=2)
        found = _among_all(broker, api_version, name)
        assert found == [0, 1], f"a topic that has grown to two has {found} among all topics"


@judges("META-023")
@at_versions("Metadata", "12+")
def test_metadata_by_id_of_internal_topic_returns_its_name(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The topic of the group coordinator has an id like any other topic."""
    name = internal_topic(broker, OFFSETS_TOPIC).name
    with requirement("META-023"):
        by_name = MetadataRequest(topics=[Asked(name=name)], allow_auto_topic_creation=False)
        topic_id = only(broker.ask(by_name, api_version).topics, "topic").topic_id
        assert topic_id != ZERO_UUID, f"{name} has no id"
        by_id = MetadataRequest(topics=[Asked(name=None, topic_id=topic_id)])
        found = [(one.name, one.error_code) for one in broker.ask(by_id, api_version).topics]
        assert found == [(name, ErrorCode.NONE)], f"by the id of {name}: {found}"

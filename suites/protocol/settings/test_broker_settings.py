"""META, TOPIC: effects of broker settings, each on a broker that is started with it."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeClusterRequest, MetadataRequest, MetadataResponse
from harness.codec.versions import VersionRange
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.topic_admin import (
    FIRST_DELETE_BY_ID,
    ask_to_delete,
    ask_to_delete_states,
    described,
)

DELETE_TOPICS, METADATA = api_named("DeleteTopics"), api_named("Metadata")
DESCRIBE_CLUSTER = api_named("DescribeCluster")
PARTITIONS = 3
RACK = "row 7"
WITH_RACK = METADATA.valid_versions & VersionRange.parse("1+")
FIRST_TO_SAY_DISABLED = 3


def _asked_into_being(
    broker: BrokerUnderTest, version: int, name: str
) -> MetadataResponse.MetadataResponseTopic:
    """The topic as Metadata shows it when it is there, asked for again and again."""
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=name)], allow_auto_topic_creation=True
    )

    def shown() -> MetadataResponse.MetadataResponseTopic | None:
        topic = only(broker.ask(request, version).topics, "topic")
        return topic if topic.error_code == ErrorCode.NONE and topic.partitions else None

    return broker.eventually(shown, f"a topic that Metadata v{version} asks for is created")


@judges("META-007")
@needs_broker(Use.OWN, {"auto.create.topics.enable": "true", "num.partitions": str(PARTITIONS)})
def test_metadata_auto_creates_topic_with_default_partitions_and_replicas(
    broker: BrokerUnderTest,
) -> None:
    """With as many partitions as the broker has by default, each with its one replica."""
    for version in broker.advertised("Metadata") & METADATA.valid_versions:
        name = broker.unique_topic()
        broker.delete_later(name)
        with requirement("META-007", api_key=METADATA.key, api_version=version):
            topic = _asked_into_being(broker, version, name)
            count = len(topic.partitions)
            assert count == PARTITIONS, f"{count} partitions, num.partitions is {PARTITIONS}"
            factors = {len(partition.replica_nodes) for partition in topic.partitions}
            assert factors == {1}, f"replication factors {factors}, by default it is 1"


@judges("META-035")
@needs_broker(Use.OWN, {"auto.create.topics.enable": "true"})
def test_metadata_auto_creates_no_topic_with_colliding_name(broker: BrokerUnderTest) -> None:
    """Beside an unknown topic that is created, and again after that."""
    there = f"{broker.unique_topic()}-a.b"
    broker.create_topic(name=there)
    collides = f"{there[:-3]}a_b"
    for version in broker.advertised("Metadata") & METADATA.valid_versions:
        free = broker.unique_topic()
        broker.delete_later(collides, free)
        with requirement("META-035", api_key=METADATA.key, api_version=version):
            for _ in range(2):
                _ask_for(broker, version, collides, free)
                _asked_into_being(broker, version, free)
            listed = {topic.name for topic in broker.metadata(None).topics}
            assert {there, free} <= listed, f"v{version}: of {there, free} one is not listed"
            assert collides not in listed, f"v{version}: {collides} was created beside {there}"


def _ask_for(broker: BrokerUnderTest, version: int, *names: str) -> None:
    asked = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    broker.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=True), version)


def _with_rack(broker: BrokerUnderTest) -> VersionRange:
    """Return the versions of Metadata with racks. Raises ApiNotAdvertised if there are none."""
    broker.version("Metadata", str(WITH_RACK))
    return broker.advertised("Metadata") & WITH_RACK


def _racks(broker: BrokerUnderTest, version: int) -> set[str | None]:
    answer = broker.ask(MetadataRequest(topics=[]), version)
    return {each.rack for each in answer.brokers}


@judges("META-020")
@needs_broker(Use.OWN, {"broker.rack": RACK})
def test_metadata_returns_configured_broker_rack(broker: BrokerUnderTest) -> None:
    """broker.rack as it was given, at every version that has it."""
    for version in _with_rack(broker):
        with requirement("META-020", api_key=METADATA.key, api_version=version):
            racks = _racks(broker, version)
            assert racks == {RACK}, f"v{version}: the rack is {racks}, broker.rack is {RACK!r}"


@judges("META-020")
@needs_broker(Use.OWN)
def test_metadata_returns_null_rack_without_broker_rack(broker: BrokerUnderTest) -> None:
    """Null, not an empty text."""
    for version in _with_rack(broker):
        with requirement("META-020", api_key=METADATA.key, api_version=version):
            racks = _racks(broker, version)
            assert racks == {None}, f"v{version}: the rack is {racks}, none was given"


@judges("META-030")
@needs_broker(Use.OWN, {"broker.rack": RACK})
def test_describe_cluster_returns_configured_broker_rack(broker: BrokerUnderTest) -> None:
    """The rack of Metadata, which is broker.rack, at every version of DescribeCluster."""
    broker.version("DescribeCluster")
    for version in broker.advertised("DescribeCluster") & DESCRIBE_CLUSTER.valid_versions:
        with requirement("META-030", api_key=DESCRIBE_CLUSTER.key, api_version=version):
            answer = broker.ask(DescribeClusterRequest(), version)
            racks = {each.rack for each in answer.brokers}
            assert racks == {RACK}, f"v{version}: the rack is {racks}, broker.rack is {RACK!r}"


@judges("TOPIC-032")
@needs_broker(Use.OWN, {"delete.topic.enable": "false"})
def test_delete_topics_with_delete_topic_enable_false_is_refused(broker: BrokerUnderTest) -> None:
    """By its name, and by its id from v6 on. The topic is there afterwards; before v3 there was no
    error of that name.
    """
    broker.version("DeleteTopics")
    topic = broker.create_topic()
    for version in broker.advertised("DeleteTopics") & DELETE_TOPICS.valid_versions:
        with requirement("TOPIC-032", api_key=DELETE_TOPICS.key, api_version=version):
            disabled = version >= FIRST_TO_SAY_DISABLED
            error = ErrorCode.TOPIC_DELETION_DISABLED if disabled else ErrorCode.INVALID_REQUEST
            ask_to_delete(broker, version, topic.name).expect(topic.name, error, f"v{version}")
            if version >= FIRST_DELETE_BY_ID:
                results = ask_to_delete_states(broker, version, (None, topic.id))
                expect_error(only(results, "topic").error_code, error, f"v{version} by its id")
            shown = described(broker, topic.name).topic_id
            assert shown == topic.id, f"v{version}: the topic has the id {shown}, it had {topic.id}"

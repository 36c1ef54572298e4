"""META: the authorized operations that Metadata returns on request (KIP-430)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.rights import has_authorizer

NOT_ASKED = -(2**31)
LAST_WITH_CLUSTER = 10
# Bits of AclOperation. A topic has others than the cluster (class AclEntry).
READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = (1 << bit for bit in range(3, 9))
CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = (
    1 << bit for bit in range(9, 13)
)
OF_BOTH = CREATE | ALTER | DESCRIBE | DESCRIBE_CONFIGS | ALTER_CONFIGS
OF_TOPIC = OF_BOTH | READ | WRITE | DELETE
OF_CLUSTER = OF_BOTH | CLUSTER_ACTION | IDEMPOTENT_WRITE


def _first(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


def _second(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


@judges("META-040")
@at_versions("Metadata", "8-10", "11+")
def test_metadata_returns_authorized_operations_of_each_topic_and_cluster_only_on_request(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of two topics and the cluster: of neither, one of them, and both, as the request wants.

    A client that creates and finds a topic has operations of it; none is one of the cluster alone.
    """
    names = [kept.topic(broker, make).name for make in (_first, _second)]
    named = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    of_cluster = (False, True) if api_version <= LAST_WITH_CLUSTER else (False,)
    with requirement("META-040") as check:
        for wants_topics in (False, True):
            for wants_cluster in of_cluster:
                told = f"topics {wants_topics}, cluster {wants_cluster}"
                request = MetadataRequest(
                    topics=named,
                    allow_auto_topic_creation=False,
                    include_topic_authorized_operations=wants_topics,
                    include_cluster_authorized_operations=wants_cluster,
                )
                with check.subtest(told):
                    answer = broker.ask(request, api_version)
                    found = {t.name: t.topic_authorized_operations for t in answer.topics}
                    assert found.keys() == {*names}, f"{told}: topics in the answer: {found}"
                    returned = {operations != NOT_ASKED for operations in found.values()}
                    assert returned == {wants_topics}, f"{told}: operations of topics are {found}"
                    legal = all(_is_part(OF_TOPIC, each) for each in found.values())
                    assert legal or not wants_topics, f"{told}: no operations of topics: {found}"
                    operations = answer.cluster_authorized_operations
                    returned = {operations != NOT_ASKED}
                    assert returned == {wants_cluster}, f"{told}: of the cluster {operations}"
                    legal = _is_part(OF_CLUSTER, operations)
                    if not operations:  # DescribeAcls needs the right that is missing then
                        has_authorizer(broker)
                    assert legal or not wants_cluster, (
                        f"{told}: no operations of a cluster: {operations}"
                    )


def _is_part(known: int, operations: int) -> bool:
    """True for one or more of the known operations, with Describe, and no other one."""
    return operations >= 0 and not operations & ~known and bool(operations & DESCRIBE)

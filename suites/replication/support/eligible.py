"""Eligible leader replicas (KIP-966) in DescribeTopicPartitions."""

from __future__ import annotations

from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.messages import ApiVersionsRequest, DescribeTopicPartitionsRequest
from harness.conformance.checks import NotApplicable

FEATURE = "eligible.leader.replicas.version"
WITH_FEATURES = "3+"
"""The versions of ApiVersions that contain the features of a cluster."""


@dataclass(frozen=True, slots=True)
class Eligible:
    """The possible leaders of a partition; ``last_known`` is the last known ELR."""

    leader: int
    isr: set[int]
    elr: set[int]
    last_known: set[int]


def described(cluster: Cluster, topic: Topic) -> Eligible:
    """Partition 0, by any broker that is up. Raises ApiNotAdvertised."""
    return described_by(cluster.front, topic)


def described_by(client: BrokerUnderTest, topic: Topic) -> Eligible:
    """The same by this broker."""
    entry = DescribeTopicPartitionsRequest.TopicRequest(name=topic.name)
    answer = client.ask(DescribeTopicPartitionsRequest(topics=[entry]))
    told = only(only(answer.topics, "topic").partitions, "partition")
    return Eligible(
        told.leader_id,
        set(told.isr_nodes),
        set(told.eligible_leader_replicas or ()),
        set(told.last_known_elr or ()),
    )


def eligible_leaders(cluster: Cluster, topic: Topic) -> set[int]:
    """None where the release knows of none."""
    if not cluster.front.advertised("DescribeTopicPartitions"):
        return set()
    return described(cluster, topic).elr


def need_eligible_leaders(client: BrokerUnderTest) -> None:
    """Raises NotApplicable where the cluster does not use the feature."""
    version = client.version("ApiVersions", WITH_FEATURES)
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="0")
    features = {
        each.name: each.max_version_level
        for each in client.ask(request, version).finalized_features
    }
    if features.get(FEATURE, 0) < 1:
        raise NotApplicable(FEATURE, f"the cluster does not use {FEATURE}")

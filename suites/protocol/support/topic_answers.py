"""Whole answers about topics, brokers and configs."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.messages import (
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeTopicPartitionsRequest,
)
from suites.protocol.support.config_admin import Resource
from suites.protocol.support.whole_answers import WholeAnswers, whole_answer

MANY_PARTITIONS = 2_000


def topics_and_brokers(client: BrokerUnderTest, names: Sequence[str]) -> WholeAnswers:
    """Answers of Metadata, DescribeTopicPartitions and DescribeCluster, where they are served.

    ``names``: of topics that exist, or did.
    """
    version = client.version("Metadata")
    everything = client.metadata(None, version)
    everything.topics = [each for each in everything.topics if not each.is_internal]
    answers = whole_answer("Metadata of all", everything, version)
    answers |= whole_answer("Metadata of names", client.metadata(names, version), version)
    if client.advertised("DescribeTopicPartitions"):
        asked = DescribeTopicPartitionsRequest.TopicRequest
        request = DescribeTopicPartitionsRequest(
            topics=[asked(name=name) for name in sorted(names)],
            response_partition_limit=MANY_PARTITIONS,
        )
        version = client.version("DescribeTopicPartitions")
        answers |= whole_answer("DescribeTopicPartitions", client.ask(request, version), version)
    if client.advertised("DescribeCluster"):
        version = client.version("DescribeCluster")
        cluster = client.ask(DescribeClusterRequest(), version)
        answers |= whole_answer("DescribeCluster", cluster, version)
    return answers


def described_configs(client: BrokerUnderTest, *resources: Resource) -> WholeAnswers:
    """Answer of DescribeConfigs with all configs of the resources, and all fields of each."""
    version = client.version("DescribeConfigs")
    asked = DescribeConfigsRequest.DescribeConfigsResource
    request = DescribeConfigsRequest(
        resources=[
            asked(resource_type=kind, resource_name=name, configuration_keys=None)
            for kind, name in resources
        ],
        include_synonyms=True,
        include_documentation=True,
    )
    return whole_answer("DescribeConfigs", client.ask(request, version), version)

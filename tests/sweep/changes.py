"""Changes to a cluster, one of each kind that a snapshot must see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    CreatePartitionsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    InitProducerIdRequest,
    OffsetCommitRequest,
)
from suites.protocol.support.appended import batch_of

TOPIC, BROKER, CLIENT_METRICS = 2, 4, 16
GROUP, TRANSACTION = 0, 1
TRIES_MS = 30_000


@dataclass(frozen=True)
class Change:
    """``make`` changes the cluster; the snapshot's ``section`` must then differ."""

    section: str
    make: Callable[[BrokerUnderTest, Topic], None]


def fill(broker: BrokerUnderTest) -> Topic:
    """Something of each kind, so that a sweep has something to spoil."""
    topic = broker.create_topic(partitions=2, configs={"retention.ms": "86400000"})
    broker.produce(topic, batch_of(b"one"))
    return topic


def create_topic(broker: BrokerUnderTest, _topic: Topic) -> None:
    broker.create_topic()


def produce(broker: BrokerUnderTest, topic: Topic) -> None:
    batch = batch_of(b"one more")  # of now: retention keeps it while the broker runs
    assert broker.produce(topic, batch).error_code == ErrorCode.NONE


def add_partition(broker: BrokerUnderTest, topic: Topic) -> None:
    entry = CreatePartitionsRequest.CreatePartitionsTopic(
        name=topic.name, count=3, assignments=None
    )
    answer = broker.ask(CreatePartitionsRequest(topics=[entry], timeout_ms=10_000))
    assert answer.results[0].error_code == ErrorCode.NONE


def alter_config(broker: BrokerUnderTest, kind: int, name: str, key: str, value: str) -> None:
    config = IncrementalAlterConfigsRequest.AlterableConfig(name=key, value=value)
    entry = IncrementalAlterConfigsRequest.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=[config]
    )
    answer = broker.ask(IncrementalAlterConfigsRequest(resources=[entry]))
    assert answer.responses[0].error_code == ErrorCode.NONE, answer


def alter_topic_config(broker: BrokerUnderTest, topic: Topic) -> None:
    alter_config(broker, TOPIC, topic.name, "retention.ms", "3600000")


def alter_config_of_all_brokers(broker: BrokerUnderTest, _topic: Topic) -> None:
    alter_config(broker, BROKER, "", "message.max.bytes", "1000000")


def subscribe_to_metrics(broker: BrokerUnderTest, topic: Topic) -> None:
    alter_config(broker, CLIENT_METRICS, topic.name, "interval.ms", "60000")


def set_quota(broker: BrokerUnderTest, topic: Topic) -> None:
    entity = AlterClientQuotasRequest.EntityData(entity_type="user", entity_name=topic.name)
    rate = AlterClientQuotasRequest.OpData(key="producer_byte_rate", value=1e9)
    entry = AlterClientQuotasRequest.EntryData(entity=[entity], ops=[rate])
    answer = broker.ask(AlterClientQuotasRequest(entries=[entry]))
    assert answer.entries[0].error_code == ErrorCode.NONE


def add_credential(broker: BrokerUnderTest, topic: Topic) -> None:
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
        name=topic.name, mechanism=1, iterations=4096, salt=b"salt", salted_password=b"p" * 32
    )
    answer = broker.ask(AlterUserScramCredentialsRequest(upsertions=[upsertion]))
    assert answer.results[0].error_code == ErrorCode.NONE


def _find_coordinator(broker: BrokerUnderTest, kind: int, key: str) -> None:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    broker.eventually(
        lambda: broker.ask(request).coordinators[0].error_code == ErrorCode.NONE,
        f"the coordinator of {key}",
        TRIES_MS,
    )


def commit_offset(broker: BrokerUnderTest, topic: Topic) -> None:
    _find_coordinator(broker, GROUP, topic.name)
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(committed_offset=1)
    entry = OffsetCommitRequest.OffsetCommitRequestTopic(name=topic.name, partitions=[partition])
    request = OffsetCommitRequest(group_id=topic.name, topics=[entry])
    broker.eventually(
        lambda: broker.ask(request, 9).topics[0].partitions[0].error_code == ErrorCode.NONE,
        "the offset is committed",
        TRIES_MS,
    )


def begin_transactions(broker: BrokerUnderTest, topic: Topic) -> None:
    _find_coordinator(broker, TRANSACTION, topic.name)
    request = InitProducerIdRequest(transactional_id=topic.name, transaction_timeout_ms=60_000)
    broker.eventually(
        lambda: broker.ask(request, 5).error_code == ErrorCode.NONE, "a producer id", TRIES_MS
    )


OF_EVERY_BROKER = {
    "a topic is created": Change("topics", create_topic),
    "a record is appended": Change("log ends", produce),
}
OF_KAFKA = {
    **OF_EVERY_BROKER,
    "a partition is added": Change("topics", add_partition),
    "a topic is configured": Change("configs", alter_topic_config),
    "all brokers are configured": Change("configs", alter_config_of_all_brokers),
    "metrics are asked for": Change("config resources", subscribe_to_metrics),
    "a quota is set": Change("quotas", set_quota),
    "a credential is added": Change("credentials", add_credential),
    "an offset is committed": Change("groups", commit_offset),
    "a transactional id is used": Change("transactions", begin_transactions),
}

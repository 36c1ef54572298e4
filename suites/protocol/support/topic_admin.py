"""Requests that create, grow and delete topics, with the answer for each topic by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar
from uuid import UUID

from harness.client.broker import BrokerUnderTest
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    MetadataResponse,
)
from suites.protocol.support.expect import expect_error

BROKERS_DEFAULT = -1
FIRST_DELETE_BY_ID = 6
Creatable = CreateTopicsRequest.CreatableTopic
Created = CreateTopicsResponse.CreatableTopicResult
Deletable = DeleteTopicsRequest.DeleteTopicState
Deleted = DeleteTopicsResponse.DeletableTopicResult


class _Result(Protocol):
    error_code: int


R = TypeVar("R", bound=_Result)


class Results(dict[str, list[R]]):
    """The results of a response by name; all results for one name must agree."""

    def expect(self, name: str, error: ErrorCode, where: str = "") -> R:
        """The result for ``name``, which must be there with this error."""
        assert self.get(name), f"{where or name!r}: no result, there are some for {sorted(self)}"
        for result in self[name]:
            expect_error(result.error_code, error, where)
        return self[name][0]


def creatable(
    name: str,
    partitions: int = 1,
    replication_factor: int = 1,
    *,
    configs: Mapping[str, str | None] | None = None,
    assignments: Sequence[Sequence[int]] = (),
) -> Creatable:
    """A topic of a CreateTopics request; ``assignments``: the brokers of partition 0, 1, ..."""
    return Creatable(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        configs=[
            CreateTopicsRequest.CreatableTopicConfig(name=key, value=value)
            for key, value in (configs or {}).items()
        ],
        assignments=[
            CreateTopicsRequest.CreatableReplicaAssignment(
                partition_index=index, broker_ids=list(brokers)
            )
            for index, brokers in enumerate(assignments)
        ],
    )


def creatable_here(broker: BrokerUnderTest, name: str) -> Creatable:
    """Return a topic with one partition; in a cluster, on the broker that receives the request."""
    if broker.node is None:
        return creatable(name)
    return creatable(name, BROKERS_DEFAULT, BROKERS_DEFAULT, assignments=[[broker.node]])


def ask_to_create(
    broker: BrokerUnderTest, version: int, *topics: Creatable, validate_only: bool = False
) -> Results[Created]:
    """Send CreateTopics and return its results; the topics are deleted after the test."""
    if not validate_only:
        broker.delete_later(*(topic.name for topic in topics))
    request = CreateTopicsRequest(
        topics=list(topics), timeout_ms=_timeout_ms(broker), validate_only=validate_only
    )
    return _by_name((result.name, result) for result in broker.ask(request, version).topics)


def ask_to_grow(
    broker: BrokerUnderTest,
    version: int,
    *counts: tuple[str, int],
    validate_only: bool = False,
    assignments: Sequence[Sequence[int]] | None = None,
) -> Results[_Result]:
    """CreatePartitions with the wanted number of partitions of each name.

    ``assignments``: the brokers of each new partition, None if the cluster is to choose them.
    """
    topic = CreatePartitionsRequest.CreatePartitionsTopic
    assignment = CreatePartitionsRequest.CreatePartitionsAssignment
    chosen = [assignment(broker_ids=list(brokers)) for brokers in assignments or ()]
    request = CreatePartitionsRequest(
        topics=[
            topic(name=name, count=count, assignments=None if assignments is None else chosen)
            for name, count in counts
        ],
        timeout_ms=_timeout_ms(broker),
        validate_only=validate_only,
    )
    return _by_name((result.name, result) for result in broker.ask(request, version).results)


def ask_to_delete(broker: BrokerUnderTest, version: int, *names: str) -> Results[Deleted]:
    """DeleteTopics by name, as the version wants it."""
    request = DeleteTopicsRequest(timeout_ms=_timeout_ms(broker))
    if version >= FIRST_DELETE_BY_ID:
        request.topics = [Deletable(name=name) for name in names]
    else:
        request.topic_names = list(names)
    answer = broker.ask(request, version)
    return _by_name((result.name, result) for result in answer.responses)


def ask_to_delete_states(
    broker: BrokerUnderTest, version: int, *states: tuple[str | None, UUID]
) -> list[Deleted]:
    """DeleteTopics with pairs of name and id; null and zero stand for "not given"."""
    request = DeleteTopicsRequest(
        topics=[Deletable(name=name, topic_id=topic_id) for name, topic_id in states],
        timeout_ms=_timeout_ms(broker),
    )
    return broker.ask(request, version).responses


def described(
    broker: BrokerUnderTest, name: str, partitions: int = 1
) -> MetadataResponse.MetadataResponseTopic:
    """The topic as Metadata shows it once it is there, with at least so many partitions."""

    def shown() -> MetadataResponse.MetadataResponseTopic | None:
        topic = only(broker.metadata([name]).topics, "topic")
        there = topic.error_code == ErrorCode.NONE and len(topic.partitions) >= partitions
        return topic if there else None

    return broker.eventually(shown, f"{name} is in the metadata with {partitions} partitions")


def partition_count(broker: BrokerUnderTest, topic: Topic) -> int:
    """Return the number of partitions in Metadata."""
    return len(only(broker.metadata([topic.name]).topics, "topic").partitions)


def expect_not_created(broker: BrokerUnderTest, *names: str) -> None:
    """A topic created after them is there, they are not.

    Looked for among all topics: below v4 Metadata creates a topic that it is asked for.
    """
    broker.delete_later(*names)
    broker.create_topic()
    shown = {topic.name: topic.error_code for topic in broker.metadata(None).topics}
    for name in names:
        told = ErrorCode.describe(shown.get(name, ErrorCode.NONE))
        assert name not in shown, f"{name} was created: its error is {told}"


def _by_name(pairs: Iterable[tuple[str | None, R]]) -> Results[R]:
    results: Results[R] = Results()
    for name, result in pairs:
        results.setdefault(name or "", []).append(result)
    return results


def _timeout_ms(broker: BrokerUnderTest) -> int:
    return int(broker.scaled_ms(DEFAULT_TIMEOUT_MS))

"""QUOTA: the quota on partitions that a client creates and deletes (KIP-599).

A bucket has the partitions of eleven seconds. A change takes its partitions out of it, also more
than are there; while it is empty, a strict version refuses the next topic, and an earlier one
makes the change and delays the client.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.client_quota import client_quota
from suites.protocol.support.healthy import expect_healthy
from suites.protocol.support.quota_admin import MUTATIONS, QUOTA_WITHIN_MS
from suites.protocol.support.topic_admin import (
    FIRST_DELETE_BY_ID,
    Creatable,
    Deletable,
    ask_to_create,
    described,
)

RATE = 0.3
"""Partitions a second: the full bucket has 3.3."""
ABOVE = 4
"""Partitions of a change: more than the bucket has."""
FILLED_MS = 2_334
"""The time until the bucket is no longer empty behind the first change."""
GROWN = 1 + ABOVE
WAIT_MS = 10_000
TIMERS_MAY_BE_EARLY = 0.9
STRICT_CREATION = 6
EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED


class MutationAnswer(NamedTuple):
    """The answer to a change: the error of each topic, and the throttle time."""

    codes: list[int]
    throttle_ms: int


Change = Callable[[Connection, list[str], int], MutationAnswer]
"""Changes topics; each change is of ``ABOVE`` partitions."""


def _create(connection: Connection, names: list[str], version: int) -> MutationAnswer:
    topics = [Creatable(name=name, num_partitions=ABOVE, replication_factor=1) for name in names]
    request = CreateTopicsRequest(topics=topics, timeout_ms=WAIT_MS)
    answer = connection.ask(request, version)
    return MutationAnswer([one.error_code for one in answer.topics], answer.throttle_time_ms)


def _grow(connection: Connection, names: list[str], version: int) -> MutationAnswer:
    wanted = CreatePartitionsRequest.CreatePartitionsTopic
    topics = [wanted(name=name, count=GROWN, assignments=None) for name in names]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=WAIT_MS)
    answer = connection.ask(request, version)
    return MutationAnswer([one.error_code for one in answer.results], answer.throttle_time_ms)


def _delete(connection: Connection, names: list[str], version: int) -> MutationAnswer:
    request = DeleteTopicsRequest(timeout_ms=WAIT_MS)
    if version >= FIRST_DELETE_BY_ID:
        request.topics = [Deletable(name=name) for name in names]
    else:
        request.topic_names = names
    answer = connection.ask(request, version)
    return MutationAnswer([one.error_code for one in answer.responses], answer.throttle_time_ms)


def _new(broker: BrokerUnderTest, partitions: int) -> list[str]:
    """Two new topics with so many partitions; with none of them only their names."""
    names = [broker.unique_topic() for _ in range(2)]
    broker.delete_later(*names)
    if partitions:
        made = [
            Creatable(name=name, num_partitions=partitions, replication_factor=1) for name in names
        ]
        results = ask_to_create(broker, broker.version("CreateTopics"), *made)
        for name in names:
            results.expect(name, ErrorCode.NONE)
    return names


@contextmanager
def _limited(broker: BrokerUnderTest) -> Iterator[str]:
    """Yield the id of a client with the quota, which has an effect and a full bucket.

    A broker learns of quotas in their order: a client with a later one shows that it works.
    """
    client_id, later = broker.unique_topic(), broker.unique_topic()
    version = broker.version("CreateTopics", f"{STRICT_CREATION}+")
    with (
        client_quota(broker, client_id, MUTATIONS, RATE),
        client_quota(broker, later, MUTATIONS, RATE),
    ):
        broker.eventually(
            lambda: EXCEEDED in _create(broker.connect(later), _new(broker, 0), version).codes,
            "a later quota has an effect",
        )
        yield client_id


def _judge_strict(broker: BrokerUnderTest, change: Change, partitions: int, version: int) -> None:
    """One topic is changed, the other is refused; when the bucket is filled, it is changed."""
    with _limited(broker) as client_id:
        found = change(broker.connect(client_id), _new(broker, partitions), version)
        assert sorted(found.codes) == [0, EXCEEDED], f"the codes of two topics are {found.codes}"
        assert 0 < found.throttle_ms <= FILLED_MS, f"the throttle time is {found.throttle_ms} ms"
        again = _new(broker, partitions)[:1]
        late = broker.last_seen(
            lambda: change(broker.connect(client_id), again, version).codes,
            lambda codes: EXCEEDED not in codes,
            QUOTA_WITHIN_MS,
        )
        assert late == [0], f"when the bucket is filled, the code is {late}"
        free = change(broker.connect(broker.unique_topic()), _new(broker, partitions), version)
        assert free == ([0, 0], 0), f"a client without a quota: {free}"


def _judge_delay(broker: BrokerUnderTest, change: Change, partitions: int, version: int) -> None:
    """Both topics are changed; the connection is mute for the throttle time of the answer."""
    with _limited(broker) as client_id:
        connection = broker.connect(client_id)

        (name, _), sent_at = _new(broker, partitions), time.monotonic()
        found = change(connection, [name], version)
        assert found.codes == [0], f"the code is {found.codes}"
        assert 0 < found.throttle_ms <= FILLED_MS, f"the throttle time is {found.throttle_ms} ms"
        expect_healthy(connection, broker)
        next_ms = (time.monotonic() - sent_at) * 1000
        least_ms = TIMERS_MAY_BE_EARLY * found.throttle_ms
        assert next_ms >= least_ms, f"to wait {found.throttle_ms} ms, answered after {next_ms:.0f}"
        more = change(broker.connect(client_id), _new(broker, partitions), version)
        assert more.codes == [0, 0], f"above the quota the codes are {more.codes}"
        assert more.throttle_ms > found.throttle_ms, f"then the throttle time is {more.throttle_ms}"
        free = change(broker.connect(broker.unique_topic()), _new(broker, partitions), version)
        assert free == ([0, 0], 0), f"a client without a quota: {free}"


@judges("QUOTA-010")
@at_versions("CreateTopics", "6+")
def test_a_topic_above_the_quota_is_not_created(broker: BrokerUnderTest, api_version: int) -> None:
    broker.version("AlterClientQuotas")
    with requirement("QUOTA-010"):
        _judge_strict(broker, _create, 0, api_version)


@judges("QUOTA-010")
@at_versions("CreateTopics", "2-5")
def test_a_client_is_delayed_that_creates_too_many_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    broker.version("AlterClientQuotas")
    with requirement("QUOTA-010"):
        _judge_delay(broker, _create, 0, api_version)


@judges("QUOTA-010")
@at_versions("DeleteTopics", "5+")
def test_a_topic_above_the_quota_is_not_deleted(broker: BrokerUnderTest, api_version: int) -> None:
    broker.version("AlterClientQuotas")
    with requirement("QUOTA-010"):
        _judge_strict(broker, _delete, ABOVE, api_version)


@judges("QUOTA-010")
@at_versions("DeleteTopics", "1-4")
def test_a_client_is_delayed_that_deletes_too_many_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    broker.version("AlterClientQuotas")
    with requirement("QUOTA-010"):
        _judge_delay(broker, _delete, ABOVE, api_version)


@judges("QUOTA-010")
@at_versions("CreatePartitions", "3+")
def test_a_topic_above_the_quota_does_not_grow(broker: BrokerUnderTest, api_version: int) -> None:
    broker.version("AlterClientQuotas")
    with requirement("QUOTA-010"):
        _judge_strict(broker, _grow, 1, api_version)


@judges("QUOTA-010")
@at_versions("CreatePartitions", "0-2")
def test_a_client_is_delayed_that_adds_too_many_partitions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    broker.version("AlterClientQuotas")
    with requirement("QUOTA-010"):
        _judge_delay(broker, _grow, 1, api_version)


@judges("QUOTA-010")
@at_versions("CreatePartitions", "3+")
def test_a_refused_topic_is_as_before(broker: BrokerUnderTest, api_version: int) -> None:
    """It keeps its partitions; the other one has more."""
    broker.version("AlterClientQuotas")
    with requirement("QUOTA-010"), _limited(broker) as client_id:
        names = _new(broker, 1)
        found = _grow(broker.connect(client_id), names, api_version)
        assert sorted(found.codes) == [0, EXCEEDED], f"the codes of two topics are {found.codes}"
        broker.eventually(
            lambda: sorted(len(described(broker, name).partitions) for name in names) == [1, GROWN],
            "one topic has grown, and the other has not",
        )

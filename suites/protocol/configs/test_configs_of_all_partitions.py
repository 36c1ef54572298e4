"""CONF: a changed config of a topic is that of each of its partitions."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.preparing import preparing
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.config_admin import CHANGE_WITHIN_MS, TOPIC, replace_all
from suites.protocol.support.expect import expect_error
from suites.protocol.support.topic_admin import ask_to_grow

ALTER_CONFIGS = api_named("AlterConfigs")
LIMIT, LIMIT_BYTES = "max.message.bytes", 2_000
LARGE = batch_of(bytes(2 * LIMIT_BYTES))


@judges("CONF-014")
def test_changed_topic_config_takes_effect_in_old_added_and_later_partitions(
    broker: BrokerUnderTest,
) -> None:
    """Two partitions of the creation, one that was added before the change, one added after it:
    each refuses a batch above the new limit, and accepts it when the limit is removed."""
    version = broker.version("AlterConfigs")
    topic = broker.create_topic(partitions=2)
    _grow(broker, topic, 3)
    for partition in range(3):
        append(broker, topic, LARGE, partition=partition)
    with requirement("CONF-014", api_key=ALTER_CONFIGS.key, api_version=version):
        _limit(broker, topic, {LIMIT: str(LIMIT_BYTES)})
        _expect_in_all(broker, topic, range(3), ErrorCode.MESSAGE_TOO_LARGE)
        _grow(broker, topic, 4)
        _expect_in_all(broker, topic, range(4), ErrorCode.MESSAGE_TOO_LARGE)
        _limit(broker, topic, {})
        _expect_in_all(broker, topic, range(4), ErrorCode.NONE)


def _grow(broker: BrokerUnderTest, topic: Topic, count: int) -> None:
    """Add one partition, on this broker."""
    here = None if broker.node is None else [[broker.node]]
    version = broker.version("CreatePartitions")
    with preparing(f"{topic.name} with {count} partitions"):
        results = ask_to_grow(broker, version, (topic.name, count), assignments=here)
        for result in results[topic.name]:
            if result.error_code != ErrorCode.NONE:
                raise PreparationFailed(f"growth: {ErrorCode.describe(result.error_code)}")
        broker.await_served(topic, count - 1)


def _limit(broker: BrokerUnderTest, topic: Topic, configs: dict[str, str]) -> None:
    error = replace_all(broker, (TOPIC, topic.name), configs)
    expect_error(error, ErrorCode.NONE, f"AlterConfigs with {configs}")


def _expect_in_all(
    broker: BrokerUnderTest, topic: Topic, partitions: range, expected: ErrorCode
) -> None:
    """Each partition must answer a large batch so, within the time of a change."""
    for partition in partitions:
        error = broker.last_seen(
            lambda partition=partition: (
                broker.produce(  # type: ignore[misc]
                    topic, LARGE, acks=1, partition=partition
                ).error_code
            ),
            lambda found: found == expected,
            CHANGE_WITHIN_MS,
        )
        where = f"a batch of {len(LARGE)} bytes in partition {partition} of {len(partitions)}"
        expect_error(error, expected, where)

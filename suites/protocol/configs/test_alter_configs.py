"""CONF: how configs are changed."""

from __future__ import annotations

from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.config_admin import (
    CHANGE_WITHIN_MS,
    TOPIC,
    AlterOperation,
    Change,
    Resource,
    ShownSource,
    asked_broker,
    change,
    change_keys,
    configs_of,
    expect_values,
    replace_all,
    values_of,
    values_once_changed,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.topic_config_values import (
    AT_LIMITS,
    AT_OTHER_LIMITS,
    LEVELS_WITHOUT_CHOICE,
    expect_all_refused,
)

LIMIT, AGE, SEGMENT = "max.message.bytes", "retention.ms", "segment.ms"
THROTTLED = "follower.replication.throttled.replicas"
POLICY, BROKER_AGE = "cleanup.policy", "log.retention.ms"
SMALL_LIMIT = "2000"
SET, DELETE, APPEND = AlterOperation.SET, AlterOperation.DELETE, AlterOperation.APPEND
SUBTRACT = AlterOperation.SUBTRACT


# The entries of one topic in a request, each with its changes.
NAMED_TWICE: dict[str, list[list[Change]]] = {
    "a topic twice": [[(AGE, SET, "1000000")], [(SEGMENT, SET, "2000000")]],
    "a topic twice, alike": [[(AGE, SET, "1000000")], [(AGE, SET, "1000000")]],
    "a key twice": [[(AGE, SET, "1000000"), (AGE, SET, "2000000")]],
    "a key twice, alike": [[(AGE, SET, "1000000"), (AGE, SET, "1000000")]],
    "a key set and deleted": [[(AGE, SET, "1000000"), (AGE, DELETE, None)]],
    "an item twice": [[(POLICY, APPEND, "compact"), (POLICY, APPEND, "compact")]],
}


def _topic(broker: BrokerUnderTest, **configs: str) -> Resource:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return TOPIC, broker.create_topic(configs=named).name


@judges("CONF-008")
@at_versions("AlterConfigs")
def test_alter_configs_resets_unnamed_configs_to_default(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of two configs one is named again: the other is what the broker has by default. Without any
    config both are."""
    default = values_of(broker, _topic(broker), [AGE, SEGMENT])
    topic = _topic(broker, retention_ms="1000000", segment_ms="2000000")
    with requirement("CONF-008"):
        error = replace_all(broker, topic, {AGE: "3000000"}, api_version)
        expect_error(error, ErrorCode.NONE, f"AlterConfigs with {AGE}")
        expected = {AGE: "3000000", SEGMENT: default[SEGMENT]}
        expect_values(broker, topic, expected, f"after AlterConfigs with {AGE} only")
        expect_error(replace_all(broker, topic, {}, api_version), ErrorCode.NONE, "AlterConfigs")
        expect_values(broker, topic, default, "after AlterConfigs without configs")


@judges("CONF-009")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_changes_only_named_keys(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of three configs one is set anew and one deleted; the third is not named."""
    default = values_of(broker, _topic(broker), [SEGMENT])[SEGMENT]
    topic = _topic(broker, retention_ms="1000000", segment_ms="2000000", max_message_bytes="3000")
    with requirement("CONF-009"):
        error = change(
            broker, topic, (AGE, SET, "5000000"), (SEGMENT, DELETE, None), version=api_version
        )
        expect_error(error, ErrorCode.NONE, f"SET of {AGE} and DELETE of {SEGMENT}")
        expected = {AGE: "5000000", SEGMENT: default, LIMIT: "3000"}
        expect_values(broker, topic, expected, f"after SET of {AGE} and DELETE of {SEGMENT}")


@judges("CONF-010")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_appends_and_subtracts_list_items(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One item twice, then one that is there and one that is not taken away; several at once.

    An empty list gets its first item. A topic without a value of its own begins with the default
    list.
    """
    topic, plain = _topic(broker, cleanup_policy="delete"), _topic(broker)
    with requirement("CONF-010"):
        for operation, item, expected in (
            (APPEND, "compact", "delete,compact"),
            (APPEND, "compact", "delete,compact"),
            (SUBTRACT, "delete", "compact"),
            (SUBTRACT, "delete", "compact"),
        ):
            where = f"{operation.name} {item}"
            error = change(broker, topic, (POLICY, operation, item), version=api_version)
            expect_error(error, ErrorCode.NONE, where)
            expect_values(broker, topic, {POLICY: expected}, f"after {where}")
        error = change(broker, plain, (POLICY, APPEND, "compact"), version=api_version)
        expect_error(error, ErrorCode.NONE, "APPEND to the default")
        expect_values(broker, plain, {POLICY: "delete,compact"}, "after APPEND to the default")
        throttled = [(THROTTLED, SET, "0:1,1:1,2:1"), (POLICY, APPEND, "delete")]
        error = change(broker, plain, *throttled, version=api_version)
        expect_error(error, ErrorCode.NONE, f"SET of {THROTTLED}")
        for operation, items, expected in (
            (SUBTRACT, "0:1,2:1", "1:1"),
            (APPEND, "1:1,3:1,4:1", "1:1,3:1,4:1"),
            (SUBTRACT, "3:1,1:1,4:1", ""),
            (APPEND, "5:1", "5:1"),
        ):
            where = f"{operation.name} {items}"
            error = change(broker, plain, (THROTTLED, operation, items), version=api_version)
            expect_error(error, ErrorCode.NONE, where)
            both = {THROTTLED: expected, POLICY: "delete,compact"}
            expect_values(broker, plain, both, f"after {where}")


@judges("CONF-010")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_subtracts_from_default_list(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of a topic without a value of its own: an item that the default list does not have, then its
    last one. The list is empty then, and not the default again."""
    topic = _topic(broker)
    with requirement("CONF-010"):
        error = change(broker, topic, (POLICY, SUBTRACT, "compact"), version=api_version)
        expect_error(error, ErrorCode.NONE, "SUBTRACT compact of the default")
        expect_values(broker, topic, {POLICY: "delete"}, "after SUBTRACT compact of the default")
        error = change(broker, topic, (POLICY, SUBTRACT, "compact,delete"), version=api_version)
        expect_error(error, ErrorCode.NONE, "SUBTRACT of the last item")
        expect_values(broker, topic, {POLICY: ""}, "after SUBTRACT of the last item")


@judges("CONF-010")
@at_versions("IncrementalAlterConfigs")
def test_append_or_subtract_on_non_list_config_returns_invalid_config(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Both operations on a number."""
    topic = _topic(broker)
    with requirement("CONF-010") as check:
        for operation in (APPEND, SUBTRACT):
            with check.subtest(operation.name):
                error = change(broker, topic, (AGE, operation, "1"), version=api_version)
                expect_error(error, ErrorCode.INVALID_CONFIG, f"{operation.name} on {AGE}")


@judges("CONF-011")
@at_versions("IncrementalAlterConfigs")
def test_duplicate_resource_or_key_in_incremental_alter_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Topics and keys that are named twice stay as they are; a topic beside them is changed.

    The two entries have different keys, equal ones, or different operations.
    """
    before = values_of(broker, _topic(broker), [AGE, SEGMENT, POLICY])
    topics = {where: _topic(broker) for where in NAMED_TWICE}
    once = _topic(broker)
    with requirement("CONF-011") as check:
        named = [
            (topics[where], each) for where, entries in NAMED_TWICE.items() for each in entries
        ]
        answers = change_keys(broker, api_version, *named, (once, [(AGE, SET, "3000000")]))
        for where, resource in topics.items():
            with check.subtest(where):
                errors = [error for found, error in answers if found == resource]
                assert errors, f"{where}: no answer"
                for error in errors:
                    expect_error(error, ErrorCode.INVALID_REQUEST, where)
        expect_error(dict(answers)[once], ErrorCode.NONE, "the topic beside them")
        expect_values(broker, once, {AGE: "3000000"}, "the topic beside them")
        for where, resource in topics.items():
            with check.subtest(f"{where}: configs"):
                values = values_of(broker, resource, list(before))
                assert values == before, f"{where}, refused: {values}, before it was {before}"


@judges("CONF-011")
@at_versions("IncrementalAlterConfigs")
def test_duplicate_broker_or_key_of_broker_in_incremental_alter_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for configs of the broker, which the request only validates."""
    resource = asked_broker(broker)
    changes: list[Change] = [(BROKER_AGE, SET, "1000000"), (BROKER_AGE, SET, "2000000")]
    with requirement("CONF-011") as check:
        for where, entries in (
            ("a broker twice", [(resource, [each]) for each in changes]),
            ("a key of a broker twice", [(resource, changes)]),
        ):
            with check.subtest(where):
                answers = change_keys(broker, api_version, *entries, validate_only=True)
                assert answers, f"{where}: no answer"
                for _, error in answers:
                    expect_error(error, ErrorCode.INVALID_REQUEST, where)


@judges("CONF-012")
@at_versions("AlterConfigs")
def test_alter_configs_with_validate_only_changes_nothing(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """When a later change is seen, the topic still is as it was."""
    topic, later = _topic(broker, retention_ms="1000000"), _topic(broker)
    with requirement("CONF-012"):
        error = replace_all(broker, topic, {AGE: "2000000"}, api_version, validate_only=True)
        expect_error(error, ErrorCode.NONE, "a validation")
        error = replace_all(broker, later, {AGE: "3000000"}, api_version)
        expect_error(error, ErrorCode.NONE, "the later change")
        expect_values(broker, later, {AGE: "3000000"}, "after the later change")
        value = values_of(broker, topic, [AGE])[AGE]
        assert value == "1000000", f"after a validation {AGE} is {value}, before it was 1000000"


@judges("CONF-012")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_with_validate_only_changes_nothing(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for single keys."""
    topic, later = _topic(broker, retention_ms="1000000"), _topic(broker)
    with requirement("CONF-012"):
        error = change(
            broker, topic, (AGE, SET, "2000000"), version=api_version, validate_only=True
        )
        expect_error(error, ErrorCode.NONE, "a validation")
        error = change(broker, later, (AGE, SET, "3000000"), version=api_version)
        expect_error(error, ErrorCode.NONE, "the later change")
        expect_values(broker, later, {AGE: "3000000"}, "after the later change")
        value = values_of(broker, topic, [AGE])[AGE]
        assert value == "1000000", f"after a validation {AGE} is {value}, before it was 1000000"


@judges("CONF-013")
@at_versions("AlterConfigs")
def test_alter_configs_with_invalid_config_changes_nothing(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A good value beside an unknown key, a wrong word, no number, one outside of its limits."""
    topic = _topic(broker, retention_ms="1000000")
    with requirement("CONF-013"):
        expect_all_refused(
            lambda bad: replace_all(broker, topic, {AGE: "2000000", **bad}, api_version)
        )
        _expect_unchanged(broker, topic)
        known = configs_of(broker, topic)
        for limits in (AT_LIMITS, AT_OTHER_LIMITS, LEVELS_WITHOUT_CHOICE):
            values = {name: value for name, value in limits.items() if name in known}
            error = replace_all(broker, topic, values, api_version)
            expect_error(error, ErrorCode.NONE, f"values at their limits: {values}")
            expect_values(broker, topic, dict(values), "values at their limits")


@judges("CONF-013")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_with_invalid_config_changes_nothing(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for single keys."""
    topic = _topic(broker, retention_ms="1000000")

    def alter(values: Mapping[str, str]) -> int:
        changes = [(name, SET, value) for name, value in values.items()]
        return change(broker, topic, *changes, version=api_version)

    with requirement("CONF-013"):
        expect_all_refused(lambda bad: alter({AGE: "2000000", **bad}))
        _expect_unchanged(broker, topic)
        expect_error(alter(AT_LIMITS), ErrorCode.NONE, "values at their limits")
        expect_values(broker, topic, dict(AT_LIMITS), "values at their limits")
        least = {"min.compaction.lag.ms": "1001"}  # above the largest lag that the topic has
        expect_error(alter(least), ErrorCode.INVALID_CONFIG, f"{least} beside {AT_LIMITS}")
        expect_values(broker, topic, dict(AT_LIMITS), f"after {least}, refused")


def _expect_unchanged(broker: BrokerUnderTest, topic: Resource) -> None:
    """Seen when a later change of another topic is."""
    later = _topic(broker, retention_ms="3000000")
    value = values_once_changed(broker, later, {AGE: "3000000"})[AGE]
    assert value == "3000000", f"a new topic has {AGE} {value}"
    value = values_of(broker, topic, [AGE])[AGE]
    assert value == "1000000", f"a refused change made {AGE} {value}, it was 1000000"


@judges("CONF-014")
@at_versions("AlterConfigs")
def test_max_message_bytes_lowered_by_alter_configs_takes_effect(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A limit that is lowered refuses a batch that went before."""
    topic = broker.create_topic()
    append(broker, topic, LARGE)
    with requirement("CONF-014"):
        error = replace_all(broker, (TOPIC, topic.name), {LIMIT: SMALL_LIMIT}, api_version)
        expect_error(error, ErrorCode.NONE, f"{LIMIT}={SMALL_LIMIT}")
        _expect_too_large(broker, topic)


@judges("CONF-014")
@at_versions("IncrementalAlterConfigs")
def test_max_message_bytes_lowered_by_incremental_alter_configs_takes_effect(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for a single key."""
    topic = broker.create_topic()
    append(broker, topic, LARGE)
    with requirement("CONF-014"):
        changes = (LIMIT, SET, SMALL_LIMIT)
        error = change(broker, (TOPIC, topic.name), changes, version=api_version)
        expect_error(error, ErrorCode.NONE, f"{LIMIT}={SMALL_LIMIT}")
        _expect_too_large(broker, topic)


LARGE = batch_of(bytes(int(SMALL_LIMIT) * 2))


def _expect_too_large(broker: BrokerUnderTest, topic: Topic) -> None:
    error = broker.last_seen(
        lambda: broker.produce(topic, LARGE, acks=1).error_code, bool, CHANGE_WITHIN_MS
    )
    where = f"a batch of {len(LARGE)} bytes with {LIMIT} {SMALL_LIMIT}"
    expect_error(error, ErrorCode.MESSAGE_TOO_LARGE, where)


# What a topic may have for itself, and what only a broker has.
FOR_TOPICS = {"min.insync.replicas": "2", "unclean.leader.election.enable": "true"}
FOR_BROKERS = {
    "replica.fetch.max.bytes": "2000000",
    "replica.fetch.wait.max.ms": "600",
    "replica.lag.time.max.ms": "40000",
}


@judges("CONF-017")
@at_versions("AlterConfigs")
def test_alter_configs_of_topic_refuses_only_broker_level_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Those of durability; not those of the fetchers of replicas."""
    topic = _topic(broker)
    with requirement("CONF-017") as check:
        error = replace_all(broker, topic, FOR_TOPICS, api_version)
        expect_error(error, ErrorCode.NONE, f"a topic with {FOR_TOPICS}")
        for name, value in FOR_BROKERS.items():
            with check.subtest(name):
                error = replace_all(broker, topic, {name: value}, api_version)
                expect_error(error, ErrorCode.INVALID_CONFIG, f"a topic with {name}={value}")


@judges("CONF-017")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_of_topic_refuses_only_broker_level_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for single keys; what was taken is shown as the topic's own."""
    topic = _topic(broker)
    with requirement("CONF-017") as check:
        changes = [(name, SET, value) for name, value in FOR_TOPICS.items()]
        error = change(broker, topic, *changes, version=api_version)
        expect_error(error, ErrorCode.NONE, f"a topic with {FOR_TOPICS}")
        for name, value in FOR_BROKERS.items():
            with check.subtest(name):
                error = change(broker, topic, (name, SET, value), version=api_version)
                expect_error(error, ErrorCode.INVALID_CONFIG, f"a topic with {name}={value}")
        expect_values(broker, topic, dict(FOR_TOPICS), "after what a topic may have")
        shown = configs_of(broker, topic, keys=list(FOR_TOPICS))
        sources = {name: shown[name].config_source for name in FOR_TOPICS}
        told = f"sources of what the topic has for itself: {sources}"
        assert set(sources.values()) == {ShownSource.TOPIC}, told

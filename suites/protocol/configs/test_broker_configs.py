"""CONF: dynamic configs of brokers: their precedence, their effect on topics, their types."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.appended import batch_of
from suites.protocol.support.config_admin import (
    BROKER,
    CHANGE_WITHIN_MS,
    TOPIC,
    AlterOperation,
    Resource,
    ShownSource,
    asked_broker,
    change,
    configs_of,
    describe,
    expect_values,
    replace_all,
    set_key,
    values_of,
)
from suites.protocol.support.expect import expect_error

ALL_BROKERS: Resource = (BROKER, "")
KEPT, OF_TOPIC = "log.retention.bytes", "retention.bytes"
STATIC, UNLIMITED, OVERRIDDEN = "4000000000", "-1", "1000000000"
Told = list[tuple[str, str | None, int]]


def _set(broker: BrokerUnderTest, resource: Resource, name: str, value: str | None) -> int:
    """Set or delete the only config of a resource; before KIP-339 the whole set is replaced."""
    if value is not None:
        return set_key(broker, resource, name, value)
    if broker.advertised("IncrementalAlterConfigs"):
        return change(broker, resource, (name, AlterOperation.DELETE, None))
    return replace_all(broker, resource, {})


def _told(broker: BrokerUnderTest, resource: Resource, name: str) -> Told:
    """Return the value in effect with its source, and then each synonym."""
    config = configs_of(broker, resource, keys=[name], synonyms=True)[name]
    synonyms = [(each.name, each.value, each.source) for each in config.synonyms]
    return [(config.name, config.value, config.config_source), *synonyms]


@judges("CONF-021")
@needs_broker(Use.OWN, {KEPT: STATIC})
def test_broker_config_comes_before_that_of_all_brokers_static_and_default(
    broker: BrokerUnderTest,
) -> None:
    """Set for all brokers, for this one, deleted for this one and for all: of the broker and of a
    topic, the value in effect is first among the synonyms, which are all that are left. A topic
    that has a value of its own shows it before all of these."""
    broker.version("DescribeConfigs", "1+")
    own, topic = asked_broker(broker), (TOPIC, broker.create_topic().name)
    overriding = (TOPIC, broker.create_topic(configs={OF_TOPIC: OVERRIDDEN}).name)
    layers = {ShownSource.STATIC: STATIC, ShownSource.DEFAULT: UNLIMITED}
    steps = (
        (ALL_BROKERS, ShownSource.ALL_BROKERS, "3000000000"),
        (own, ShownSource.BROKER, "2000000000"),
        (ALL_BROKERS, ShownSource.ALL_BROKERS, "3500000000"),
        (own, ShownSource.BROKER, None),
        (ALL_BROKERS, ShownSource.ALL_BROKERS, None),
    )
    with requirement("CONF-021"):
        for resource, source, value in steps:
            where = f"{KEPT} {value} for {resource[1] or 'all brokers'}"
            expect_error(_set(broker, resource, KEPT, value), ErrorCode.NONE, where)
            layers[source] = value or ""
            synonyms: Told = [(KEPT, layers[s], s) for s in sorted(layers) if layers[s]]
            _, in_effect, found_in = synonyms[0]
            of_topic = (OF_TOPIC, OVERRIDDEN, ShownSource.TOPIC)
            for described, name, expected in (
                (own, KEPT, [(KEPT, in_effect, found_in), *synonyms]),
                (topic, OF_TOPIC, [(OF_TOPIC, in_effect, found_in), *synonyms]),
                (overriding, OF_TOPIC, [of_topic, of_topic, *synonyms]),
            ):
                found = broker.last_seen(
                    lambda described=described, name=name: _told(broker, described, name),  # type: ignore[misc]
                    lambda found, expected=expected: found == expected,  # type: ignore[misc]
                    CHANGE_WITHIN_MS,
                )
                assert found == expected, f"{where}: {name} is {found}, expected {expected}"


LIMIT = "message.max.bytes"
LARGE = batch_of(bytes(4_000))


@judges("CONF-022")
@needs_broker(Use.OWN)
def test_dynamic_broker_config_takes_effect_on_topics_without_override(
    broker: BrokerUnderTest,
) -> None:
    """A lower limit of batches, for all brokers and then for this one, and without it again. A
    topic that has a limit of its own keeps it, also a topic that is created meanwhile."""
    broker.version("DescribeConfigs", "1+")
    own_limit = {"max.message.bytes": "5000"}
    plain, with_own = broker.create_topic(), broker.create_topic(configs=own_limit)
    with requirement("CONF-022"):
        for resource in (ALL_BROKERS, asked_broker(broker)):
            where = f"{LIMIT} for {resource[1] or 'all brokers'}"
            expect_error(_set(broker, resource, LIMIT, "2000"), ErrorCode.NONE, where)
            _expect_produced(broker, plain, ErrorCode.MESSAGE_TOO_LARGE, where)
            _expect_produced(broker, with_own, ErrorCode.NONE, f"{where}, a topic with its own")
            later = broker.create_topic(), broker.create_topic(configs=own_limit)
            _expect_produced(broker, later[0], ErrorCode.MESSAGE_TOO_LARGE, f"{where}, a new topic")
            _expect_produced(broker, later[1], ErrorCode.NONE, f"{where}, a new one with its own")
            expect_error(_set(broker, resource, LIMIT, None), ErrorCode.NONE, f"no {where}")
            _expect_produced(broker, plain, ErrorCode.NONE, f"no {where} any more")


@judges("CONF-022")
@needs_broker(Use.OWN)
def test_topic_whose_override_is_deleted_takes_dynamic_config_of_broker(
    broker: BrokerUnderTest,
) -> None:
    """The topic had its limit before the broker was changed; it is replaced by nothing, or deleted
    alone. The broker's limit is described and in effect."""
    broker.version("IncrementalAlterConfigs")
    own_limit = {"max.message.bytes": "5000", "retention.ms": "1000000"}
    topics = {how: broker.create_topic(configs=own_limit) for how in ("AlterConfigs", "DELETE")}
    with requirement("CONF-022") as check:
        where = f"{LIMIT} of the broker"
        expect_error(_set(broker, asked_broker(broker), LIMIT, "2000"), ErrorCode.NONE, where)
        for how, topic in topics.items():
            with check.subtest(how):
                _expect_produced(broker, topic, ErrorCode.NONE, f"{how}, before it")
                of, deleted = (
                    (TOPIC, topic.name),
                    ("max.message.bytes", AlterOperation.DELETE, None),
                )
                code = (
                    replace_all(broker, of, {}) if how != "DELETE" else change(broker, of, deleted)
                )
                expect_error(code, ErrorCode.NONE, how)
                expect_values(broker, of, {"max.message.bytes": "2000"}, f"after {how}")
                _expect_produced(broker, topic, ErrorCode.MESSAGE_TOO_LARGE, f"after {how}")


def _expect_produced(
    broker: BrokerUnderTest, topic: Topic, expected: ErrorCode, where: str
) -> None:
    code = broker.last_seen(
        lambda: broker.produce(topic, LARGE, acks=1).error_code,
        lambda code: code == expected,
        CHANGE_WITHIN_MS,
    )
    expect_error(code, expected, f"{where}: a batch of {len(LARGE)} bytes")


@judges("CONF-012")
@needs_broker(Use.OWN)
def test_alter_broker_config_with_validate_only_changes_nothing(broker: BrokerUnderTest) -> None:
    """Of this broker and of all, key by key and as a whole: when a later change is seen, no other
    value has changed, and one that is set is still there."""
    broker.version("DescribeConfigs", "1+")  # of a release with configs that change (KIP-226)
    own, later = asked_broker(broker), "log.retention.ms"
    for resource in (ALL_BROKERS, own):
        code = _set(broker, resource, KEPT, "3000000000")
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"{KEPT}: {ErrorCode.describe(code)}", code)
    with requirement("CONF-012"):
        for resource in (ALL_BROKERS, own):
            for changed in (
                (KEPT, AlterOperation.SET, "2000000000"),
                (KEPT, AlterOperation.DELETE, None),
            ):
                code = change(broker, resource, changed, validate_only=True)
                expect_error(code, ErrorCode.NONE, f"validation of {changed}")
        code = replace_all(broker, own, {later: "1000000"}, validate_only=True)
        expect_error(code, ErrorCode.NONE, f"validation of {later}")
        error = change(broker, own, (later, AlterOperation.SET, "2000000"))
        expect_error(error, ErrorCode.NONE, "the later change")
        expect_values(broker, own, {later: "2000000"}, "after the later change")
        for resource in (ALL_BROKERS, own):
            value = values_of(broker, resource, [KEPT])[KEPT]
            assert value == "3000000000", f"after validations {KEPT} of {resource} is {value}"


# Types of configs by their numbers (KIP-569), of a topic and of a broker.
TYPES_OF_TOPIC = {
    "preallocate": 1,
    "compression.type": 2,
    "segment.bytes": 3,
    "retention.ms": 5,
    "min.cleanable.dirty.ratio": 6,
    "cleanup.policy": 7,
}
TYPES_OF_BROKER = {
    "auto.create.topics.enable": 1,
    "broker.rack": 2,
    "num.io.threads": 3,
    "offsets.topic.replication.factor": 4,
    "log.segment.delete.delay.ms": 5,
    "log.cleaner.min.cleanable.ratio": 6,
    "log.cleanup.policy": 7,
    "principal.builder.class": 8,
    "ssl.keystore.password": 9,
}


@judges("CONF-023")
@at_versions("DescribeConfigs", "3+")
def test_describe_configs_returns_type_and_documentation_of_each_config(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A config of each type, of a topic and of a broker; documented if the request wants it."""
    topic = TOPIC, broker.create_topic().name
    with requirement("CONF-023"):
        for resource, types in ((topic, TYPES_OF_TOPIC), (asked_broker(broker), TYPES_OF_BROKER)):
            shown = configs_of(broker, resource, api_version, list(types))
            found = {name: shown[name].config_type for name in types}
            assert found == types, f"types are {found}, expected {types}"
            told = {name: config.documentation for name, config in shown.items()}
            assert not any(told.values()), f"documentation that no request wanted: {told}"
            result = describe(broker, resource, api_version, list(types), documentation=True)
            expect_error(result.error_code, ErrorCode.NONE, "DescribeConfigs with documentation")
            documented = {config.name for config in result.configs if config.documentation}
            silent = sorted(types.keys() - documented)
            assert not silent, f"configs without documentation: {silent}"

"""CONF: how configs are shown."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    CHANGE_WITHIN_MS,
    FIRST_WITH_SOURCES,
    OF_TIERED_STORAGE,
    TOPIC,
    AlterOperation,
    Config,
    Resource,
    ShownSource,
    asked_broker,
    change,
    configs_of,
    describe,
    replace_all,
    shows_tiered_storage,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics

OVERRIDES = {
    "max.message.bytes": "100000",
    "retention.ms": "86400000",
    "min.insync.replicas": "1",  # which topics here have in some clusters anyway
}
NO_CONFIG = "no.such.config"
IN_EVERY_RELEASE = frozenset(
    {
        "cleanup.policy",
        "compression.type",
        "delete.retention.ms",
        "file.delete.delay.ms",
        "flush.messages",
        "flush.ms",
        "follower.replication.throttled.replicas",
        "index.interval.bytes",
        "leader.replication.throttled.replicas",
        "max.message.bytes",
        "message.timestamp.type",
        "min.cleanable.dirty.ratio",
        "min.compaction.lag.ms",
        "min.insync.replicas",
        "preallocate",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.index.bytes",
        "segment.jitter.ms",
        "segment.ms",
        "unclean.leader.election.enable",
    }
)
# Values that every release with the config accepts.
IN_SOME_RELEASES = {
    "compression.gzip.level": "1",
    "compression.lz4.level": "1",
    "compression.zstd.level": "1",
    "errors.deadletterqueue.group.enable": "false",
    "max.compaction.lag.ms": "1000",
    "max.decompressed.message.bytes": "1000",
    "message.downconversion.enable": "true",
    "message.format.version": "0.11.0",
    "message.timestamp.after.max.ms": "1000",
    "message.timestamp.before.max.ms": "1000",
    "message.timestamp.difference.max.ms": "1000",
}
UNKNOWN_BROKER = "77777"
DESCRIBE = api_named("DescribeConfigs")
SECRET, OF_A_PLUGIN = "ssl.keystore.password", "plugin.of.a.test"


def _configured_topic(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(configs=OVERRIDES)


@judges("CONF-001")
@at_versions("DescribeConfigs")
def test_describe_configs_of_topic_returns_configs_common_to_all_releases(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Those that every release since KIP-133 has, none of them a secret or unchangeable."""
    topic = TOPIC, kept.topic(broker, _configured_topic).name
    with requirement("CONF-001") as check:
        configs = configs_of(broker, topic, api_version)
        missing = sorted(IN_EVERY_RELEASE - configs.keys())
        assert not missing, f"topic configs that are not shown: {missing}"
        values = {name: configs[name].value for name in OVERRIDES}
        assert values == OVERRIDES, f"the values are {values}, given were {OVERRIDES}"
        for config in configs.values():
            with check.subtest(config.name):
                _expect_told(config, api_version)


def _expect_told(config: Config, version: int) -> None:
    name = config.name
    assert config.value is not None, f"{name} has no value"
    assert not config.read_only, f"{name} is shown as read-only"
    assert not config.is_sensitive, f"{name} is shown as a secret"
    if version >= FIRST_WITH_SOURCES:
        assert config.config_source in list(ShownSource), f"{name}: source {config.config_source}"
    elif name in OVERRIDES:
        assert not config.is_default, f"{name}, which is set, is shown as a default"


@judges("CONF-001")
@at_versions("DescribeConfigs")
def test_describe_configs_of_topic_returns_every_config_that_alter_configs_accepts(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Those of some releases: if a topic may have one, it is shown.

    Of the configs of tiered storage either all are shown or none.
    """
    topic = TOPIC, kept.topic(broker, _configured_topic).name
    with requirement("CONF-001"):
        configs = configs_of(broker, topic, api_version)
        accepted = {
            name
            for name, value in (
                *IN_SOME_RELEASES.items(),
                *(OF_TIERED_STORAGE.items() if shows_tiered_storage(configs) else ()),
            )
            if replace_all(broker, topic, {name: value}, validate_only=True) == ErrorCode.NONE
        }
        missing = sorted(accepted - configs.keys())
        assert not missing, f"configs that a topic may have and that are not shown: {missing}"


@judges("CONF-002")
@at_versions("DescribeConfigs", "1+")
def test_describe_configs_returns_topic_source_only_for_overrides(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Configs set at the creation have the topic as source, all others a broker or default."""
    topic = TOPIC, kept.topic(broker, _configured_topic).name
    with requirement("CONF-002"):
        configs = configs_of(broker, topic, api_version)
        of_topic = {name for name, c in configs.items() if c.config_source == ShownSource.TOPIC}
        assert of_topic == OVERRIDES.keys(), f"configs with the topic as source: {of_topic}"
        inherited = {
            ShownSource.BROKER,
            ShownSource.ALL_BROKERS,
            ShownSource.STATIC,
            ShownSource.DEFAULT,
        }
        odd = {name: c.config_source for name, c in configs.items() if name not in of_topic}
        odd = {name: source for name, source in odd.items() if source not in inherited}
        assert not odd, f"sources that are neither a broker nor a default: {odd}"


@judges("CONF-003")
@at_versions("DescribeConfigs", "1+")
def test_topic_config_set_to_default_value_has_topic_source(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The value that a topic without configs has, given to another one."""
    plain = TOPIC, broker.create_topic().name
    with requirement("CONF-003"):
        value = configs_of(broker, plain, api_version)["max.message.bytes"].value or ""
    topic = TOPIC, broker.create_topic(configs={"max.message.bytes": value}).name
    with requirement("CONF-003"):
        source = configs_of(broker, topic, api_version)["max.message.bytes"].config_source
        assert source == ShownSource.TOPIC, (
            f"a default that was given has source {source}, expected 1"
        )


@judges("CONF-004")
@at_versions("DescribeConfigs", "1+")
def test_describe_configs_returns_requested_synonyms_in_precedence_order(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """From the topic's own value, which is in effect, down to the default of the broker's config.

    Without being asked for there are none.
    """
    topic = TOPIC, kept.topic(broker, _configured_topic).name
    with requirement("CONF-004"):
        config = configs_of(broker, topic, api_version, synonyms=True)["max.message.bytes"]
        told = [(s.name, s.value, s.source) for s in config.synonyms]
        own = ("max.message.bytes", OVERRIDES["max.message.bytes"], ShownSource.TOPIC)
        assert told[:1] == [own], f"the first synonym is {told[:1]}, in effect is {own}"
        sources = [source for _, _, source in told]
        assert sources == sorted(sources), f"the synonyms are out of order: {told}"
        names = {name for name, _, _ in told[1:]}
        assert names == {"message.max.bytes"}, f"the broker's config is not among {told}"
        unasked = configs_of(broker, topic, api_version)["max.message.bytes"].synonyms
        assert not unasked, f"{len(unasked)} synonyms that were not requested"


@judges("CONF-004")
@at_versions("DescribeConfigs", "1+")
def test_source_of_each_config_is_that_of_its_first_synonym(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of all configs of a topic and of a broker; each list of synonyms is in order.

    Without being asked for there are none of any config.
    """
    topic = TOPIC, kept.topic(broker, _configured_topic).name
    with requirement("CONF-004") as check:
        for kind, resource in (("topic", topic), ("broker", asked_broker(broker))):
            with check.subtest(f"a {kind}"):
                shown = configs_of(broker, resource, api_version, synonyms=True).values()
                with_synonyms = {one.name: one for one in shown if one.synonyms}
                assert with_synonyms, f"a {kind}: no config has a synonym"
                for name, config in with_synonyms.items():
                    sources = [each.source for each in config.synonyms]
                    told = f"a {kind}: {name} has source {config.config_source}, synonyms {sources}"
                    assert [config.config_source, *sources[1:]] == sorted(sources), told
                unasked = configs_of(broker, resource, api_version).values()
                odd = [config.name for config in unasked if config.synonyms]
                assert not odd, f"a {kind}: synonyms that were not requested: {odd}"


@judges("CONF-005")
@at_versions("DescribeConfigs")
def test_describe_configs_with_keys_returns_only_existing_named_configs(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two that exist and one that does not; that one alone; without a list, all.

    Of a topic and of the broker.
    """
    topic = TOPIC, kept.topic(broker, _configured_topic).name
    named = {
        topic: {"retention.ms", "cleanup.policy"},
        asked_broker(broker): {"log.retention.ms", "num.partitions"},
    }
    with requirement("CONF-005") as check:
        for resource, wanted in named.items():
            kind = "topic" if resource == topic else "broker"
            with check.subtest(f"a {kind}"):
                shown = configs_of(broker, resource, api_version, [*wanted, NO_CONFIG]).keys()
                assert shown == wanted, f"named were {sorted(wanted)}, shown are {sorted(shown)}"
                shown = configs_of(broker, resource, api_version, [NO_CONFIG]).keys()
                assert not shown, f"named was {NO_CONFIG}, shown are {len(shown)} configs"
                count = len(configs_of(broker, resource, api_version))
                assert count >= len(IN_EVERY_RELEASE), f"{count} configs where all were asked for"


@judges("CONF-024")
@at_versions("DescribeConfigs")
def test_describe_configs_with_empty_list_of_keys_returns_all_configs(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The same configs as with null."""
    topic = TOPIC, kept.topic(broker, _configured_topic).name
    with requirement("CONF-024"):
        expected = configs_of(broker, topic, api_version).keys()
        found = configs_of(broker, topic, api_version, []).keys()
        assert found == expected, f"an empty list gives {len(found)} configs, null {len(expected)}"


@judges("CONF-006")
@needs_broker(Use.OWN, {"ssl.keystore.password": "a-secret-of-this-test"})
def test_describe_configs_returns_sensitive_value_as_null(broker: BrokerUnderTest) -> None:
    """A password that the broker was started with, at every version."""
    broker.version("DescribeConfigs")  # without it there is nothing to judge
    resource = asked_broker(broker)
    with requirement("CONF-006") as check:
        for version in broker.advertised("DescribeConfigs") & DESCRIBE.valid_versions:
            with check.subtest(f"v{version}"):
                _expect_secret(broker, resource, SECRET, version)


def _expect_secret(broker: BrokerUnderTest, resource: Resource, name: str, version: int) -> None:
    """The config and its synonyms, at least one, have no value."""
    has_synonyms = version >= FIRST_WITH_SOURCES
    config = configs_of(broker, resource, version, [name], synonyms=has_synonyms)[name]
    assert config.is_sensitive, f"v{version}: {name} is not shown as a secret"
    assert config.value is None, f"v{version}: a secret is shown: {config.value!r}"
    told = [(each.source, each.value) for each in config.synonyms]
    secrets = [value for _, value in told if value is not None]
    assert not secrets, f"v{version}: a secret is shown in synonyms: {told}"
    assert bool(told) == has_synonyms, f"v{version}: synonyms of {name}: {told}"


@judges("CONF-006")
@needs_broker(Use.OWN)
def test_value_of_a_name_that_the_broker_does_not_know_is_null(broker: BrokerUnderTest) -> None:
    """A plugin may know the name: its value may be a secret, and so it is shown as one."""
    broker.version("IncrementalAlterConfigs")
    resource = asked_broker(broker)
    error = change(broker, resource, (OF_A_PLUGIN, AlterOperation.SET, "a-secret-of-this-test"))
    if error != ErrorCode.NONE:
        raise PreparationFailed(f"SET of {OF_A_PLUGIN}: {ErrorCode.describe(error)}")
    broker.last_seen(lambda: OF_A_PLUGIN in configs_of(broker, resource), bool, CHANGE_WITHIN_MS)
    with requirement("CONF-006") as check:
        for version in broker.advertised("DescribeConfigs") & DESCRIBE.valid_versions:
            with check.subtest(f"v{version}"):
                _expect_secret(broker, resource, OF_A_PLUGIN, version)


@judges("CONF-007")
@at_versions("DescribeConfigs")
def test_describe_configs_of_unknown_topic_or_broker_returns_error(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A topic and brokers that there are not; each answer has no configs, named or not."""
    expected = {
        "a topic": (TOPIC, broker.unique_topic(), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        "a broker": (BROKER, UNKNOWN_BROKER, ErrorCode.INVALID_REQUEST),
        "a broker below 0": (BROKER, "-1", ErrorCode.INVALID_REQUEST),
        "a broker without a number": (BROKER, "one", ErrorCode.INVALID_REQUEST),
    }
    with requirement("CONF-007") as check:
        for what, (kind, name, error) in expected.items():
            for keys in (None, ["retention.ms", "log.retention.ms"]):
                where = f"{what}, keys {keys}"
                with check.subtest(where):
                    result = describe(broker, (kind, name), api_version, keys)
                    expect_error(result.error_code, error, f"configs of {where}")
                    assert not result.configs, f"{where} has {len(result.configs)} configs"


# What the documentation gives, by the name of the config.
DOCUMENTED = {
    "log.retention.hours": "168",
    "min.insync.replicas": "1",
    "replica.fetch.max.bytes": "1048576",
    "replica.fetch.min.bytes": "1",
    "replica.fetch.wait.max.ms": "500",
    "replica.high.watermark.checkpoint.interval.ms": "5000",
    "replica.lag.time.max.ms": "30000",
    "unclean.leader.election.enable": "false",
}


@judges("CONF-019")
@at_versions("DescribeConfigs", "1+")
def test_describe_configs_returns_documented_broker_defaults(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """As the default among the synonyms of each, whatever the deployment has set."""
    resource = asked_broker(broker)
    with requirement("CONF-019"):
        configs = configs_of(broker, resource, api_version, list(DOCUMENTED), synonyms=True)
        defaults = {
            name: {s.value for s in config.synonyms if s.source == ShownSource.DEFAULT}
            for name, config in configs.items()
            if name in DOCUMENTED
        }
        expected = {name: {value} for name, value in DOCUMENTED.items()}
        assert defaults == expected, f"defaults are {defaults}, documented are {DOCUMENTED}"


READ_ONLY = ("broker.id", "log.dirs", "num.partitions")
DYNAMIC = (
    *("log.retention.ms", "message.max.bytes", "num.io.threads"),
    *("listeners", "ssl.cipher.suites", "ssl.keystore.location"),  # of one broker or listener
)


@judges("CONF-020")
@at_versions("DescribeConfigs")
def test_describe_configs_of_broker_marks_only_static_configs_read_only(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Configs that only a restart changes, and configs that requests change."""
    with requirement("CONF-020"):
        configs = configs_of(broker, asked_broker(broker), api_version, [*READ_ONLY, *DYNAMIC])
        found = {name: configs[name].read_only for name in (*READ_ONLY, *DYNAMIC)}
        wrong = {name: seen for name, seen in found.items() if seen != (name in READ_ONLY)}
        assert not wrong, f"wrong values of read_only: {wrong}"

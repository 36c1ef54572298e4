import pytest

from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.settings import BrokerSettings, SettingError, parse_assignments
from harness.reference_broker.state.config_definitions.config_values import ConfigError
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("no.such.config", "1"),
        ("max.message.bytes", "x"),
        ("max.message.bytes", "-1"),
        ("max.message.bytes", "1_000"),
        ("cleanup.policy", "foo"),
        ("cleanup.policy", "delete,"),
        ("compression.type", "GZIP"),
        ("compression.gzip.level", "0"),
        ("segment.bytes", "100"),
        ("preallocate", "maybe"),
        ("min.cleanable.dirty.ratio", "2"),
        ("min.cleanable.dirty.ratio", "0_1"),
        ("min.cleanable.dirty.ratio", "inf"),
        ("retention.ms", "\u00a05"),
        ("leader.replication.throttled.replicas", "foo"),
        ("leader.replication.throttled.replicas", "*,0:1"),
        ("remote.storage.enable", "true"),
    ],
)
def test_topic_config_refuses_invalid_name_or_value(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        TopicConfig.of({name: value}, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cleanup.policy", ""),
        ("cleanup.policy", "compact, delete"),
        ("preallocate", "TRUE"),
        ("retention.ms", " 5 "),
        ("compression.gzip.level", "-1"),
        ("retention.ms", "\u0663"),
        ("min.cleanable.dirty.ratio", "0.5f"),
        ("min.cleanable.dirty.ratio", ".5e0"),
        ("leader.replication.throttled.replicas", "*"),
        ("leader.replication.throttled.replicas", "0:1,,"),
        ("leader.replication.throttled.replicas", "0:1,1:1"),
        ("internal.segment.bytes", "100"),
    ],
)
def test_topic_config_keeps_text_of_valid_value(name: str, value: str) -> None:
    config = TopicConfig.of({name: value}, {})
    assert config.text_of(name) == value
    assert name in config.listed_names()


def test_min_compaction_lag_above_max_compaction_lag_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"max\.compaction\.lag\.ms"):
        TopicConfig.of({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}, {})


def test_topic_config_inherits_broker_setting() -> None:
    settings = BrokerSettings.of({"message.max.bytes": "2000"})
    assert TopicConfig.of({}, settings.topic_defaults).number("max.message.bytes") == 2000


def test_repeated_setting_is_refused() -> None:
    with pytest.raises(SettingError, match="twice"):
        parse_assignments(("num.partitions=1", "num.partitions=2"))


def test_timestamp_limit_configs_depend_on_emulated_release() -> None:
    old, new = EmulatedRelease("2.8.2"), EmulatedRelease("4.4.0")
    difference = {"message.timestamp.difference.max.ms": "5"}
    config = TopicConfig.of(difference, {}, old)
    assert (config.timestamp_before_max_ms, config.timestamp_after_max_ms) == (5, 5)
    assert "message.timestamp.before.max.ms" not in config.listed_names()
    with pytest.raises(ConfigError, match="Unknown"):
        TopicConfig.of(difference, {}, new)
    with pytest.raises(ConfigError, match="Unknown"):
        TopicConfig.of({"message.timestamp.before.max.ms": "5"}, {}, old)


def test_timestamp_after_limit_overrides_difference_limit() -> None:
    given = {"message.timestamp.difference.max.ms": "5", "message.timestamp.after.max.ms": "7"}
    config = TopicConfig.of(given, {}, EmulatedRelease("3.9.2"))
    assert (config.timestamp_before_max_ms, config.timestamp_after_max_ms) == (5, 7)


def test_topic_config_defaults_and_limits_depend_on_emulated_release() -> None:
    configs = {
        release: TopicConfig.of({}, {}, EmulatedRelease(release)) for release in ("1.1.1", "2.8.2")
    }
    found = [config.number("max.message.bytes") for config in configs.values()]
    assert found == [1000012, 1048588]
    assert (
        TopicConfig.of({"segment.bytes": "100"}, {}, EmulatedRelease("3.9.2")).segment_bytes == 100
    )

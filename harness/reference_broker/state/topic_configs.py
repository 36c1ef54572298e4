"""The topic configurations of Apache Kafka 4.4.0: names, types, limits, broker defaults.

Source: class org.apache.kafka.storage.internals.log.LogConfig as released, and what a 4.4.0
broker lists for a new topic.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.reference_broker.state.config_values import ConfigDefinition as Definition
from harness.reference_broker.state.config_values import ConfigError, ConfigValue

_LONG_MAX = "9223372036854775807"
_CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")

# Pairs of partition and broker, or all of them by one star; items may be empty.
_PAIR = r"\s*([0-9]+:[0-9]+)?\s*"
_THROTTLED = rf"{_PAIR}(,{_PAIR})*|[\s,]*\*[\s,]*"

_DEFINITIONS = (
    Definition(
        "cleanup.policy",
        "list",
        "delete",
        choices=("compact", "delete"),
        broker_setting="log.cleanup.policy",
    ),
    Definition(
        "compression.gzip.level",
        "int",
        "-1",
        1,
        9,
        also=-1,
        broker_setting="compression.gzip.level",
    ),
    Definition("compression.lz4.level", "int", "9", 1, 17, broker_setting="compression.lz4.level"),
    Definition(
        "compression.type", "string", "producer", choices=_CODECS, broker_setting="compression.type"
    ),
    Definition(
        "compression.zstd.level", "int", "3", -131072, 22, broker_setting="compression.zstd.level"
    ),
    Definition(
        "delete.retention.ms",
        "long",
        "86400000",
        0,
        broker_setting="log.cleaner.delete.retention.ms",
    ),
    Definition("errors.deadletterqueue.group.enable", "boolean", "false"),
    Definition(
        "file.delete.delay.ms", "long", "60000", 0, broker_setting="log.segment.delete.delay.ms"
    ),
    Definition(
        "flush.messages", "long", _LONG_MAX, 1, broker_setting="log.flush.interval.messages"
    ),
    Definition("flush.ms", "long", _LONG_MAX, 0, broker_setting="log.flush.interval.ms"),
    Definition("follower.replication.throttled.replicas", "list", "", pattern=_THROTTLED),
    Definition("index.interval.bytes", "int", "4096", 0, broker_setting="log.index.interval.bytes"),
    Definition("leader.replication.throttled.replicas", "list", "", pattern=_THROTTLED),
    Definition(
        "local.retention.bytes", "long", "-2", -2, broker_setting="log.local.retention.bytes"
    ),
    Definition("local.retention.ms", "long", "-2", -2, broker_setting="log.local.retention.ms"),
    Definition(
        "max.compaction.lag.ms",
        "long",
        _LONG_MAX,
        1,
        broker_setting="log.cleaner.max.compaction.lag.ms",
    ),
    Definition(
        "max.decompressed.message.bytes",
        "int",
        "2147483639",
        1,
        2147483639,
        broker_setting="max.decompressed.message.bytes",
    ),
    Definition("max.message.bytes", "int", "1048588", 0, broker_setting="message.max.bytes"),
    Definition(
        "message.timestamp.after.max.ms",
        "long",
        "3600000",
        0,
        broker_setting="log.message.timestamp.after.max.ms",
    ),
    Definition(
        "message.timestamp.before.max.ms",
        "long",
        _LONG_MAX,
        0,
        broker_setting="log.message.timestamp.before.max.ms",
    ),
    Definition(
        "message.timestamp.type",
        "string",
        "CreateTime",
        choices=("CreateTime", "LogAppendTime"),
        broker_setting="log.message.timestamp.type",
    ),
    Definition(
        "min.cleanable.dirty.ratio",
        "double",
        "0.5",
        0,
        1,
        broker_setting="log.cleaner.min.cleanable.ratio",
    ),
    Definition(
        "min.compaction.lag.ms", "long", "0", 0, broker_setting="log.cleaner.min.compaction.lag.ms"
    ),
    Definition("min.insync.replicas", "int", "1", 1, broker_setting="min.insync.replicas"),
    Definition("preallocate", "boolean", "false", broker_setting="log.preallocate"),
    Definition(
        "remote.copy.lag.bytes", "long", "-1", -1, broker_setting="log.remote.copy.lag.bytes"
    ),
    Definition("remote.copy.lag.ms", "long", "0", -1, broker_setting="log.remote.copy.lag.ms"),
    Definition("remote.log.copy.disable", "boolean", "false"),
    Definition("remote.log.delete.on.disable", "boolean", "false"),
    Definition("remote.storage.enable", "boolean", "false"),
    Definition("retention.bytes", "long", "-1", broker_setting="log.retention.bytes"),
    Definition("retention.ms", "long", "604800000", -1, broker_setting="log.retention.ms"),
    Definition("segment.bytes", "int", "1073741824", 1048576, broker_setting="log.segment.bytes"),
    Definition(
        "segment.index.bytes", "int", "10485760", 4, broker_setting="log.index.size.max.bytes"
    ),
    Definition("segment.jitter.ms", "long", "0", 0, broker_setting="log.roll.jitter.ms"),
    Definition("segment.ms", "long", "604800000", 1, broker_setting="log.roll.ms"),
    Definition(
        "unclean.leader.election.enable",
        "boolean",
        "false",
        broker_setting="unclean.leader.election.enable",
    ),
)

TOPIC_CONFIGS: Mapping[str, Definition] = {d.name: d for d in _DEFINITIONS}
"""All that are listed to clients."""

_SMALL_SEGMENTS = Definition("internal.segment.bytes", "int", "0")
"""Never listed; lets tests have segments below the legal minimum (KIP-1030)."""


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """What one topic is configured to do: `overrides` were given for it, the rest is inherited.

    `broker_values` holds the broker's settings that are not left at their default, by the
    broker's names. Both are text. Raises ConfigError for a name or a value that is not legal.
    """

    overrides: Mapping[str, str]
    broker_values: Mapping[str, str]
    values: Mapping[str, ConfigValue]

    @classmethod
    def of(cls, overrides: Mapping[str, str], broker_values: Mapping[str, str]) -> "TopicConfig":
        """Read and check all values."""
        for name in overrides:
            if name not in TOPIC_CONFIGS and name != _SMALL_SEGMENTS.name:
                raise ConfigError(f"Unknown topic config name: {name}")
        values = {
            definition.name: definition.parse(_text_of(definition, overrides, broker_values))
            for definition in (*_DEFINITIONS, _SMALL_SEGMENTS)
        }
        _check_together(values)
        return cls(dict(overrides), broker_values, values)

    def text_of(self, name: str) -> str:
        """The value in effect, as text."""
        return _text_of(
            TOPIC_CONFIGS.get(name, _SMALL_SEGMENTS), self.overrides, self.broker_values
        )

    def listed_names(self) -> list[str]:
        """The names that clients are shown, sorted; the unlisted one only when it was given."""
        return sorted({*TOPIC_CONFIGS, *self.overrides})

    def number(self, name: str) -> int:
        """A value of type int or long."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    @property
    def segment_bytes(self) -> int:
        """The largest set of batches that may be appended at once."""
        return self.number(_SMALL_SEGMENTS.name) or self.number("segment.bytes")

    @property
    def is_compacted(self) -> bool:
        """Whether records of one key replace each other, so that each needs a key."""
        return "compact" in self.policies

    @property
    def is_only_compacted(self) -> bool:
        """Whether records may go only when a later one has their key."""
        return self.is_compacted and "delete" not in self.policies

    @property
    def policies(self) -> tuple[str, ...]:
        """What is done about old records."""
        policy = self.values["cleanup.policy"]
        return policy if isinstance(policy, tuple) else ()

    @property
    def compression_type(self) -> str:
        """The codec that batches are stored in; "producer" keeps what was sent."""
        return str(self.values["compression.type"])

    @property
    def uses_log_append_time(self) -> bool:
        """Whether the broker's clock replaces the records' timestamps."""
        return self.values["message.timestamp.type"] == "LogAppendTime"


def _text_of(
    definition: Definition, overrides: Mapping[str, str], broker_values: Mapping[str, str]
) -> str:
    if definition.name in overrides:
        return overrides[definition.name]
    if definition.broker_setting is not None and definition.broker_setting in broker_values:
        return broker_values[definition.broker_setting]
    return definition.default


def _check_together(values: Mapping[str, ConfigValue]) -> None:
    if values["remote.storage.enable"] is True:
        raise ConfigError("remote.storage.enable: this broker has no tiered storage")
    shortest, longest = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if isinstance(shortest, int) and isinstance(longest, int) and shortest > longest:
        raise ConfigError(
            f"min.compaction.lag.ms ({shortest}) must not be larger than "
            f"max.compaction.lag.ms ({longest})"
        )

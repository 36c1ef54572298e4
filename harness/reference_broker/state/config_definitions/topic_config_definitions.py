"""The topic configurations of Apache Kafka: names, types, limits, broker defaults, and releases.

Source: class org.apache.kafka.storage.internals.log.LogConfig (before 3.5 kafka.log.LogConfig) of
the releases, and the configs that a 4.4.0 broker lists for a new topic. A config with another
default or limit in some releases has an entry for each.
"""

from harness.reference_broker.state.config_definitions.config_values import (
    ConfigDefinition as Definition,
)

_LONG_MAX = "9223372036854775807"
_CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")

# Pairs of partition and broker, or all of them by one star; items may be empty.
_PAIR = r"\s*([0-9]+:[0-9]+)?\s*"
_THROTTLED = rf"{_PAIR}(,{_PAIR})*|[\s,]*\*[\s,]*"

# Releases with the inner numbers that they had under way (class ApiVersion). Of the default, only
# those of the releases that the broker can be like are right.
_OLD_FORMATS = (
    r"0\.(8\.[0-2]|9\.0|10\.0(-IV[01])?|10\.1(-IV[0-2])?|10\.2(-IV0)?|11\.0(-IV[0-2])?)(\..*)?"
)
_FORMATS_OF_2_8 = rf"{_OLD_FORMATS}|(1\.[01]|2\.[0-8])(-IV[0-2])?(\..*)?"

DEFINITIONS = (
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
        since=(3, 8),
    ),
    Definition(
        "compression.lz4.level",
        "int",
        "9",
        1,
        17,
        broker_setting="compression.lz4.level",
        since=(3, 8),
    ),
    Definition(
        "compression.type",
        "string",
        "producer",
        choices=tuple(codec for codec in _CODECS if codec != "zstd"),
        broker_setting="compression.type",
        since=(0, 9),
        until=(2, 1),
    ),
    Definition(
        "compression.type",
        "string",
        "producer",
        choices=_CODECS,
        broker_setting="compression.type",
        since=(2, 1),
    ),
    Definition(
        "compression.zstd.level",
        "int",
        "3",
        -131072,
        22,
        broker_setting="compression.zstd.level",
        since=(3, 8),
    ),
    Definition(
        "delete.retention.ms",
        "long",
        "86400000",
        0,
        broker_setting="log.cleaner.delete.retention.ms",
    ),
    Definition("errors.deadletterqueue.group.enable", "boolean", "false", since=(4, 4)),
    Definition(
        "file.delete.delay.ms", "long", "60000", 0, broker_setting="log.segment.delete.delay.ms"
    ),
    Definition(
        "flush.messages", "long", _LONG_MAX, 1, broker_setting="log.flush.interval.messages"
    ),
    Definition("flush.ms", "long", _LONG_MAX, 0, broker_setting="log.flush.interval.ms"),
    Definition(
        "follower.replication.throttled.replicas", "list", "", pattern=_THROTTLED, since=(0, 10, 1)
    ),
    Definition("index.interval.bytes", "int", "4096", 0, broker_setting="log.index.interval.bytes"),
    Definition(
        "leader.replication.throttled.replicas", "list", "", pattern=_THROTTLED, since=(0, 10, 1)
    ),
    Definition(
        "local.retention.bytes",
        "long",
        "-2",
        -2,
        broker_setting="log.local.retention.bytes",
        since=(3, 6),
    ),
    Definition(
        "local.retention.ms",
        "long",
        "-2",
        -2,
        broker_setting="log.local.retention.ms",
        since=(3, 6),
    ),
    Definition(
        "max.compaction.lag.ms",
        "long",
        _LONG_MAX,
        1,
        broker_setting="log.cleaner.max.compaction.lag.ms",
        since=(2, 3),
    ),
    Definition(
        "max.decompressed.message.bytes",
        "int",
        "2147483639",
        1,
        2147483639,
        broker_setting="max.decompressed.message.bytes",
        since=(4, 4),
    ),
    Definition(
        "max.message.bytes", "int", "1000012", 0, broker_setting="message.max.bytes", until=(2, 5)
    ),
    Definition(
        "max.message.bytes", "int", "1048588", 0, broker_setting="message.max.bytes", since=(2, 5)
    ),
    Definition(
        "message.downconversion.enable",
        "boolean",
        "true",
        broker_setting="log.message.downconversion.enable",
        since=(2, 0),
        until=(4, 0),
    ),
    Definition(
        "message.format.version",
        "string",
        "0.10.2-IV0",
        pattern=_OLD_FORMATS,
        broker_setting="log.message.format.version",
        since=(0, 10),
        until=(1, 0),
    ),
    Definition(
        "message.format.version",
        "string",
        "1.1-IV0",
        pattern=rf"{_OLD_FORMATS}|1\.[01](-IV0)?(\..*)?",
        broker_setting="log.message.format.version",
        since=(1, 0),
        until=(2, 0),
    ),
    Definition(
        "message.format.version",
        "string",
        "2.8-IV1",
        pattern=_FORMATS_OF_2_8,
        broker_setting="log.message.format.version",
        since=(2, 0),
        until=(3, 0),
    ),
    Definition(
        "message.format.version",
        "string",
        "3.0-IV1",
        pattern=rf"{_FORMATS_OF_2_8}|3\.[0-9](-IV[0-9]+)?(\..*)?",
        broker_setting="log.message.format.version",
        since=(3, 0),
        until=(4, 0),
    ),
    Definition(
        "message.timestamp.after.max.ms",
        "long",
        _LONG_MAX,
        0,
        broker_setting="log.message.timestamp.after.max.ms",
        since=(3, 6),
        until=(4, 0),
    ),
    Definition(
        "message.timestamp.after.max.ms",
        "long",
        "3600000",
        0,
        broker_setting="log.message.timestamp.after.max.ms",
        since=(4, 0),
    ),
    Definition(
        "message.timestamp.before.max.ms",
        "long",
        _LONG_MAX,
        0,
        broker_setting="log.message.timestamp.before.max.ms",
        since=(3, 6),
    ),
    Definition(
        "message.timestamp.difference.max.ms",
        "long",
        _LONG_MAX,
        0,
        broker_setting="log.message.timestamp.difference.max.ms",
        since=(0, 10),
        until=(4, 0),
    ),
    Definition(
        "message.timestamp.type",
        "string",
        "CreateTime",
        choices=("CreateTime", "LogAppendTime"),
        broker_setting="log.message.timestamp.type",
        since=(0, 10),
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
        "min.compaction.lag.ms",
        "long",
        "0",
        0,
        broker_setting="log.cleaner.min.compaction.lag.ms",
        since=(0, 10, 1),
    ),
    Definition("min.insync.replicas", "int", "1", 1, broker_setting="min.insync.replicas"),
    Definition("preallocate", "boolean", "false", broker_setting="log.preallocate", since=(0, 9)),
    Definition(
        "remote.copy.lag.bytes",
        "long",
        "-1",
        -1,
        broker_setting="log.remote.copy.lag.bytes",
        since=(4, 4),
    ),
    Definition(
        "remote.copy.lag.ms", "long", "0", -1, broker_setting="log.remote.copy.lag.ms", since=(4, 4)
    ),
    Definition("remote.log.copy.disable", "boolean", "false", since=(3, 9)),
    Definition("remote.log.delete.on.disable", "boolean", "false", since=(3, 9)),
    Definition("remote.storage.enable", "boolean", "false", since=(3, 6)),
    Definition("retention.bytes", "long", "-1", broker_setting="log.retention.bytes"),
    Definition("retention.ms", "long", "604800000", -1, broker_setting="log.retention.ms"),
    Definition(
        "segment.bytes", "int", "1073741824", 14, broker_setting="log.segment.bytes", until=(4, 0)
    ),
    Definition(
        "segment.bytes",
        "int",
        "1073741824",
        1048576,
        broker_setting="log.segment.bytes",
        since=(4, 0),
    ),
    Definition(
        "segment.index.bytes", "int", "10485760", 4, broker_setting="log.index.size.max.bytes"
    ),
    Definition("segment.jitter.ms", "long", "0", 0, broker_setting="log.roll.jitter.ms"),
    Definition("segment.ms", "long", "604800000", 1, broker_setting="log.roll.ms"),
    Definition(
        "unclean.leader.election.enable",
        "boolean",
        "true",
        broker_setting="unclean.leader.election.enable",
        until=(0, 11),  # KIP-106
    ),
    Definition(
        "unclean.leader.election.enable",
        "boolean",
        "false",
        broker_setting="unclean.leader.election.enable",
        since=(0, 11),
    ),
)
"""Sorted by name; of one name in the order of the releases."""

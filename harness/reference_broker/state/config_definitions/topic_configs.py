"""The configs of topics, by the names and defaults of a release: `topic_configs.tsv`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from harness.reference_broker.emulated_release import LIKE_NONE, EmulatedRelease
from harness.reference_broker.state.config_definitions.config_table import config_table
from harness.reference_broker.state.config_definitions.config_values import (
    ConfigDefinition as Definition,
)
from harness.reference_broker.state.config_definitions.config_values import ConfigError, ConfigValue

DEFINITIONS: tuple[Definition, ...] = tuple(
    row.definition
    for row in config_table(
        "harness.reference_broker.state.config_definitions", "topic_configs.tsv"
    )
)
"""Sorted by name; of one name in the order of the releases."""

_SMALL_SEGMENTS = Definition("internal.segment.bytes", "int", "0", since=(4, 1))
"""Never listed; allows tests segments below the legal minimum (KIP-1030)."""

_FORMAT_IS_IGNORED = (3, 0)  # KIP-724
_FIRST_RELEASES_OF_MAGIC = ((0, 10), (0, 11))  # 1 (KIP-32) and 2 (KIP-98)
_BEFORE = "message.timestamp.before.max.ms"
_DIFFERENCE = "message.timestamp.difference.max.ms"


@dataclass(frozen=True, slots=True)
class ReleasedConfigs:
    """The topic configs of one release.

    `known` are the listed configs. `effective` has the others too: a config that came later, or is
    gone, has the default of the nearest release that had it.
    """

    known: Mapping[str, Definition]
    effective: Mapping[str, Definition]
    accepted: frozenset[str]
    format_is_ignored: bool


def configs_of(like: EmulatedRelease) -> ReleasedConfigs:
    """Return the topic configs of the emulated release."""
    return _configs_of_release(like.release)


@cache
def _configs_of_release(release: str) -> ReleasedConfigs:
    like = EmulatedRelease(release)
    known = {one.name: one for one in DEFINITIONS if _has(like, one)}
    effective: dict[str, Definition] = {}
    for one in (*DEFINITIONS, _SMALL_SEGMENTS):
        if one.name not in effective or like.since(*one.since):
            effective[one.name] = one
    hidden = {_SMALL_SEGMENTS.name} if _has(like, _SMALL_SEGMENTS) else set()
    return ReleasedConfigs(
        known, effective, frozenset(known) | hidden, like.since(*_FORMAT_IS_IGNORED)
    )


def _has(like: EmulatedRelease, definition: Definition) -> bool:
    ended = definition.until is not None and like.since(*definition.until)
    return like.since(*definition.since) and not ended


TOPIC_CONFIGS: Mapping[str, Definition] = configs_of(LIKE_NONE).known
"""All configs that a broker lists to clients if it emulates no release."""

INHERITED: Mapping[str, Definition] = {
    one.broker_setting: one for one in DEFINITIONS if one.broker_setting is not None
}
"""The configs that topics inherit, by the broker's names; the newest definition of each."""


@dataclass(frozen=True)
class TopicConfig:
    """The configs of one topic: `overrides` were given for it, the rest is inherited.

    `broker_values` holds the broker's settings that are not left at their default, by the broker's
    names. Both are text. Values that each batch needs are read once. Raises ConfigError for an
    illegal name or value.
    """

    overrides: Mapping[str, str]
    broker_values: Mapping[str, str]
    values: Mapping[str, ConfigValue]
    released: ReleasedConfigs

    @classmethod
    def of(
        cls,
        overrides: Mapping[str, str],
        broker_values: Mapping[str, str],
        like: EmulatedRelease = LIKE_NONE,
    ) -> "TopicConfig":
        """Read and check all values."""
        released = configs_of(like)
        for name in overrides:
            if name not in released.accepted:
                raise ConfigError(f"Unknown topic config name: {name}")
        config = cls._read(overrides, broker_values, released)
        _check_together(config.values)
        return config

    def inheriting(self, broker_values: Mapping[str, str]) -> "TopicConfig":
        """Return the same overrides above other settings of the broker."""
        return self._read(self.overrides, broker_values, self.released)

    @classmethod
    def _read(
        cls,
        overrides: Mapping[str, str],
        broker_values: Mapping[str, str],
        released: ReleasedConfigs,
    ) -> "TopicConfig":
        values = {
            name: definition.parse(_text_of(definition, overrides, broker_values))
            for name, definition in released.effective.items()
        }
        return cls(dict(overrides), broker_values, values, released)

    def definition_of(self, name: str) -> Definition:
        """Return the definition of a config that a topic may have."""
        return self.released.effective[name]

    def text_of(self, name: str) -> str:
        """Return the value in effect, as text."""
        return _text_of(self.definition_of(name), self.overrides, self.broker_values)

    def listed_names(self) -> list[str]:
        """Return the listed names, sorted; the unlisted one only if it was given."""
        return sorted({*self.released.known, *self.overrides})

    def number(self, name: str) -> int:
        """Return a value of type int or long."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    @cached_property
    def max_message_bytes(self) -> int:
        """The largest batch that may be appended."""
        return self.number("max.message.bytes")

    @cached_property
    def max_decompressed_bytes(self) -> int:
        """The largest that a batch may become when it is decompressed."""
        return self.number("max.decompressed.message.bytes")

    @cached_property
    def segment_bytes(self) -> int:
        """The largest set of batches that may be appended at once."""
        return self.number(_SMALL_SEGMENTS.name) or self.number("segment.bytes")

    @cached_property
    def flush_messages(self) -> int:
        """The largest number of records that may be in the page cache alone."""
        return self.number("flush.messages")

    @cached_property
    def flush_ms(self) -> int:
        """The longest time in ms for which records may be in the page cache alone."""
        return self.number("flush.ms")

    @cached_property
    def index_interval_bytes(self) -> int:
        """The bytes between two entries of a segment's index."""
        return self.number("index.interval.bytes")

    @cached_property
    def min_insync_replicas(self) -> int:
        """The number of replicas that must be in sync for acks=all."""
        return self.number("min.insync.replicas")

    @cached_property
    def elects_unclean(self) -> bool:
        """True if a replica that is not in sync may lead when no replica is in sync."""
        return self.values["unclean.leader.election.enable"] is True

    @cached_property
    def segment_ms(self) -> int:
        """The longest time in ms for which a segment is active. Records that must be compacted in
        time need a closed segment in time (KIP-354)."""
        longest = self.number("segment.ms")
        return min(longest, self.number("max.compaction.lag.ms")) if self.is_compacted else longest

    @cached_property
    def least_dirty_ratio(self) -> float:
        """The share of a log that has to be dirty before the log is compacted."""
        value = self.values["min.cleanable.dirty.ratio"]
        assert isinstance(value, int | float)
        return value

    @cached_property
    def is_compacted(self) -> bool:
        """True if a record replaces older ones of its key; every record then needs a key."""
        return "compact" in self.policies

    @cached_property
    def is_only_compacted(self) -> bool:
        """True if a record is removed only after a later one with its key."""
        return self.is_compacted and "delete" not in self.policies

    @cached_property
    def policies(self) -> tuple[str, ...]:
        """The cleanup policies for old records."""
        policy = self.values["cleanup.policy"]
        return policy if isinstance(policy, tuple) else ()

    @cached_property
    def compression_type(self) -> str:
        """The codec of stored batches; "producer" keeps the codec of the producer."""
        return str(self.values["compression.type"])

    @cached_property
    def uses_log_append_time(self) -> bool:
        """True if the broker's clock replaces the records' timestamps."""
        return self.values["message.timestamp.type"] == "LogAppendTime"

    @cached_property
    def refuses_append_time(self) -> bool:
        """True before 3.6: a producer's batch with LogAppendTime is refused by every topic."""
        return _BEFORE not in self.released.known  # KIP-937

    @cached_property
    def timestamp_before_max_ms(self) -> int:
        """The largest time in ms by which a record may be older than the broker's time."""
        return self._timestamp_limit(_BEFORE)

    @cached_property
    def timestamp_after_max_ms(self) -> int:
        """The largest time in ms by which a record may be newer than the broker's time."""
        return self._timestamp_limit("message.timestamp.after.max.ms")

    def _timestamp_limit(self, name: str) -> int:
        """Return a limit; up to 3.9 the limit for both sides replaces a default value (KIP-937)."""
        if _DIFFERENCE in self.released.known:
            default = self.definition_of(name).default
            if name not in self.released.known or self.values[name] == int(default):
                return self.number(_DIFFERENCE)
        return self.number(name)

    @cached_property
    def message_magic(self) -> int:
        """The format of stored batches (class ApiVersion)."""
        if self.released.format_is_ignored:
            return 2
        return _magic_of(str(self.values["message.format.version"]))

    @cached_property
    def may_be_down_converted(self) -> bool:
        """True if stored batches of a newer format are converted for old readers (KIP-283)."""
        return self.values["message.downconversion.enable"] is True


def _magic_of(format_version: str) -> int:
    numbers = tuple(map(int, re.findall(r"[0-9]+", format_version.partition("-")[0])))
    return sum(numbers >= first for first in _FIRST_RELEASES_OF_MAGIC)


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

"""What topics are configured to do, by the names and defaults of a release.

Source: class LogConfig.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from harness.reference_broker.likeness import LIKE_NONE, Likeness
from harness.reference_broker.state.config_values import ConfigDefinition as Definition
from harness.reference_broker.state.config_values import ConfigError, ConfigValue
from harness.reference_broker.state.topic_config_definitions import DEFINITIONS

_SMALL_SEGMENTS = Definition("internal.segment.bytes", "int", "0", since=(4, 1))
"""Never listed; lets tests have segments below the legal minimum (KIP-1030)."""

_FORMAT_IS_IGNORED = (3, 0)  # KIP-724
_FIRST_RELEASES_OF_MAGIC = ((0, 10), (0, 11))  # 1 (KIP-32) and 2 (KIP-98)
_DIFFERENCE = "message.timestamp.difference.max.ms"


@dataclass(frozen=True, slots=True)
class ReleasedConfigs:
    """The topic configs of one release.

    `known` are those that it lists. `effective` has the others too: what stands for a config
    that came later, or is gone, is its default in the release where it was nearest.
    """

    known: Mapping[str, Definition]
    effective: Mapping[str, Definition]
    accepted: frozenset[str]
    format_is_ignored: bool


def configs_of(like: Likeness) -> ReleasedConfigs:
    """Those of the release."""
    return _configs_of_release(like.release)


@cache
def _configs_of_release(release: str) -> ReleasedConfigs:
    like = Likeness(release)
    known = {one.name: one for one in DEFINITIONS if _has(like, one)}
    effective: dict[str, Definition] = {}
    for one in (*DEFINITIONS, _SMALL_SEGMENTS):
        if one.name not in effective or like.since(*one.since):
            effective[one.name] = one
    hidden = {_SMALL_SEGMENTS.name} if _has(like, _SMALL_SEGMENTS) else set()
    return ReleasedConfigs(
        known, effective, frozenset(known) | hidden, like.since(*_FORMAT_IS_IGNORED)
    )


def _has(like: Likeness, definition: Definition) -> bool:
    ended = definition.until is not None and like.since(*definition.until)
    return like.since(*definition.since) and not ended


TOPIC_CONFIGS: Mapping[str, Definition] = configs_of(LIKE_NONE).known
"""All that a broker like no release lists to clients."""

INHERITED: Mapping[str, Definition] = {
    one.broker_setting: one for one in DEFINITIONS if one.broker_setting is not None
}
"""What topics of any release inherit, by the broker's names; the newest definition of each."""


@dataclass(frozen=True)
class TopicConfig:
    """What one topic is configured to do: `overrides` were given for it, the rest is inherited.

    `broker_values` holds the broker's settings that are not left at their default, by the
    broker's names. Both are text. What each batch asks for is read once. Raises ConfigError for a
    name or a value that is not legal.
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
        like: Likeness = LIKE_NONE,
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
        """The same overrides above other settings of the broker."""
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
        """Of a config that a topic may have."""
        return self.released.effective[name]

    def text_of(self, name: str) -> str:
        """The value in effect, as text."""
        return _text_of(self.definition_of(name), self.overrides, self.broker_values)

    def listed_names(self) -> list[str]:
        """The names that clients are shown, sorted; the unlisted one only when it was given."""
        return sorted({*self.released.known, *self.overrides})

    def number(self, name: str) -> int:
        """A value of type int or long."""
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
        """So many records may be in the page cache alone."""
        return self.number("flush.messages")

    @cached_property
    def flush_ms(self) -> int:
        """For so long records may be in the page cache alone."""
        return self.number("flush.ms")

    @cached_property
    def index_interval_bytes(self) -> int:
        """So many bytes are behind an entry of a segment's index before there is another."""
        return self.number("index.interval.bytes")

    @cached_property
    def min_insync_replicas(self) -> int:
        """So many replicas have to be in sync for what asks for all of them."""
        return self.number("min.insync.replicas")

    @cached_property
    def elects_unclean(self) -> bool:
        """Whether a replica may lead that is not in sync, when nobody is."""
        return self.values["unclean.leader.election.enable"] is True

    @cached_property
    def segment_ms(self) -> int:
        """For how long a segment is appended to: what is to be compacted in time closes in time
        (KIP-354)."""
        longest = self.number("segment.ms")
        return min(longest, self.number("max.compaction.lag.ms")) if self.is_compacted else longest

    @cached_property
    def least_dirty_ratio(self) -> float:
        """How much of a log has to be new before it is compacted."""
        value = self.values["min.cleanable.dirty.ratio"]
        assert isinstance(value, int | float)
        return value

    @cached_property
    def is_compacted(self) -> bool:
        """Whether records of one key replace each other, so that each needs a key."""
        return "compact" in self.policies

    @cached_property
    def is_only_compacted(self) -> bool:
        """Whether records may go only when a later one has their key."""
        return self.is_compacted and "delete" not in self.policies

    @cached_property
    def policies(self) -> tuple[str, ...]:
        """What is done about old records."""
        policy = self.values["cleanup.policy"]
        return policy if isinstance(policy, tuple) else ()

    @cached_property
    def compression_type(self) -> str:
        """The codec that batches are stored in; "producer" keeps what was sent."""
        return str(self.values["compression.type"])

    @cached_property
    def uses_log_append_time(self) -> bool:
        """Whether the broker's clock replaces the records' timestamps."""
        return self.values["message.timestamp.type"] == "LogAppendTime"

    @cached_property
    def timestamp_before_max_ms(self) -> int:
        """How much older than the broker's time a record may be."""
        return self._timestamp_limit("message.timestamp.before.max.ms")

    @cached_property
    def timestamp_after_max_ms(self) -> int:
        """How much newer than the broker's time a record may be."""
        return self._timestamp_limit("message.timestamp.after.max.ms")

    def _timestamp_limit(self, name: str) -> int:
        """Up to 3.9 the limit for both sides counts where this one is at its default (KIP-937)."""
        if _DIFFERENCE in self.released.known:
            default = self.definition_of(name).default
            if name not in self.released.known or self.values[name] == int(default):
                return self.number(_DIFFERENCE)
        return self.number(name)

    @cached_property
    def message_magic(self) -> int:
        """The format that batches are stored in (class ApiVersion)."""
        if self.released.format_is_ignored:
            return 2
        return _magic_of(str(self.values["message.format.version"]))

    @cached_property
    def may_be_down_converted(self) -> bool:
        """Whether old readers get what is stored in a newer format (KIP-283)."""
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

"""A config as clients receive it (KIP-133, KIP-226, KIP-569)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from harness.reference_broker.state.config_definitions.config_values import (
    ConfigDefinition,
    ConfigType,
)


class ConfigSource(IntEnum):
    """The source of a value (class DescribeConfigsResponse.ConfigSource)."""

    TOPIC = 1
    BROKER = 2
    CLUSTER = 3
    STATIC = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


@dataclass(frozen=True, slots=True)
class Synonym:
    """One possible source of a value; `value` is None for a sensitive config."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """`synonyms` are in order of precedence; `type` is None for an unknown name."""

    name: str
    value: str | None
    source: ConfigSource
    synonyms: Sequence[Synonym]
    type: ConfigType | None
    read_only: bool = False
    sensitive: bool = False


def entry_of(
    name: str,
    value: str | None,
    synonyms: Sequence[Synonym],
    definition: ConfigDefinition | None,
    *,
    read_only: bool = False,
) -> ConfigEntry:
    """Return the entry, with the source of the first synonym; an unknown config is sensitive."""
    sensitive = definition is None or definition.type == "password"
    return ConfigEntry(
        name,
        None if sensitive else value,
        synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        [Synonym(s.name, None, s.source) for s in synonyms] if sensitive else synonyms,
        None if definition is None else definition.type,
        read_only,
        sensitive,
    )

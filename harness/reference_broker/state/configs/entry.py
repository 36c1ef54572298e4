"""A config as clients are shown it (KIP-133, KIP-226, KIP-569)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from harness.reference_broker.state.config_values import ConfigDefinition, ConfigType


class Source(IntEnum):
    """Where a value comes from (class DescribeConfigsResponse.ConfigSource)."""

    TOPIC = 1
    BROKER = 2
    CLUSTER = 3
    STATIC = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


@dataclass(frozen=True, slots=True)
class Synonym:
    """One of the places that a value may come from; sensitive values are None."""

    name: str
    value: str | None
    source: Source


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """`synonyms` are in order of precedence; `type` is None for a name that nobody knows."""

    name: str
    value: str | None
    source: Source
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
    """The source is that of the first synonym; what is not known is taken for a secret."""
    sensitive = definition is None or definition.type == "password"
    return ConfigEntry(
        name,
        None if sensitive else value,
        synonyms[0].source if synonyms else Source.DEFAULT,
        [Synonym(s.name, None, s.source) for s in synonyms] if sensitive else synonyms,
        None if definition is None else definition.type,
        read_only,
        sensitive,
    )

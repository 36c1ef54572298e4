"""Configs of groups (KIP-848, KIP-932, KIP-1071): `group_configs.tsv`."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.config_definitions.config_table import (
    ConfigRow,
    config_table,
)
from harness.reference_broker.state.config_definitions.config_values import (
    ConfigDefinition,
    ConfigError,
)
from harness.reference_broker.state.config_definitions.entry import (
    ConfigEntry,
    ConfigSource,
    Synonym,
    entry_of,
)
from harness.reference_broker.state.config_definitions.layers import BrokerConfigLayers
from harness.reference_broker.state.configs.changes import Changed
from harness.reference_broker.state.configs.of_named import NamedConfigs
from harness.reference_broker.state.configs.refused import ConfigsRefused


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """`lowest` and `highest` name the broker's configs that limit it; None without a limit."""

    definition: ConfigDefinition
    lowest: str | None = None
    highest: str | None = None


def _config(row: ConfigRow) -> GroupConfig:
    return GroupConfig(row.definition, row.own["lowest"] or None, row.own["highest"] or None)


GROUP_CONFIGS: Mapping[str, GroupConfig] = {
    row.definition.name: _config(row)
    for row in config_table("harness.reference_broker.state.configs", "group_configs.tsv")
}
"""All configs that are listed to clients."""


class GroupConfigs(NamedConfigs):
    """Resources of type GROUP; a group has configs even if it does not exist."""

    def _given(self, state: BrokerState) -> dict[str, Mapping[str, str]]:
        return state.group_configs

    def entries(self, state: BrokerState, resource: str) -> list[ConfigEntry]:
        """Return the group's configs; the broker gives those not set. Raises ConfigsRefused."""
        if not resource:
            raise ConfigsRefused(ErrorCode.INVALID_REQUEST, "A group needs a name.")
        given = self.current(state, resource)
        return [_entry(config, given, state.configs) for config in GROUP_CONFIGS.values()]

    def check(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused for an unknown config or a value outside the broker's limits."""
        if not resource:
            raise ConfigsRefused(ErrorCode.INVALID_REQUEST, "There are no configs of all groups.")
        for name, value in wanted.values.items():
            config = GROUP_CONFIGS.get(name)
            if config is None:
                raise _bad(f"Unknown group config name: {name}")
            try:
                parsed = config.definition.parse(value)
            except ConfigError as error:
                raise _bad(str(error)) from error
            if isinstance(parsed, int):
                _check_limits(config, parsed, state.configs)
        for kind in ("consumer", "share", "streams"):
            _check_session(kind, wanted.values, state.configs)


def _inherited(config: GroupConfig, layers: BrokerConfigLayers) -> Synonym:
    """The value of a config that is not set for the group."""
    definition = config.definition
    found = layers.synonyms(definition.broker_setting) if definition.broker_setting else []
    return found[0] if found else Synonym(definition.name, definition.default, ConfigSource.DEFAULT)


def _entry(
    config: GroupConfig, given: Mapping[str, str], layers: BrokerConfigLayers
) -> ConfigEntry:
    name, inherited = config.definition.name, _inherited(config, layers)
    synonyms = [inherited]
    if name in given:
        synonyms = [Synonym(name, given[name], ConfigSource.GROUP), inherited]
    return entry_of(name, synonyms[0].value, synonyms, config.definition)


def _check_limits(config: GroupConfig, value: int, layers: BrokerConfigLayers) -> None:
    name = config.definition.name
    for limit, sign in ((config.lowest, 1), (config.highest, -1)):
        bound = int(layers.value(limit) or value) if limit else value
        if (value - bound) * sign < 0:
            raise _bad(f"{name} is {value}, {limit} is {bound}.")


def _check_session(kind: str, given: Mapping[str, str], layers: BrokerConfigLayers) -> None:
    names = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
    if not any(name in given for name in names):
        return
    timeout, interval = (
        int(given.get(name) or _inherited(GROUP_CONFIGS[name], layers).value or 0) for name in names
    )
    if timeout <= interval:
        raise _bad(f"{names[0]} has to be larger than {names[1]}.")


def _bad(message: str) -> ConfigsRefused:
    return ConfigsRefused(ErrorCode.INVALID_CONFIG, message)

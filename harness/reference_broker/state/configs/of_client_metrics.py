"""Subscriptions to metrics of clients (KIP-714, class ClientMetricsConfigs)."""

import re
from collections.abc import Mapping

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.broker import BrokerState
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
from harness.reference_broker.state.configs.changes import Changed
from harness.reference_broker.state.configs.of_named import NamedConfigs
from harness.reference_broker.state.configs.refused import ConfigsRefused

CLIENT_METRICS_CONFIGS: Mapping[str, ConfigDefinition] = {
    definition.name: definition
    for definition in (
        ConfigDefinition("interval.ms", "int", "300000"),
        ConfigDefinition("match", "list", ""),
        ConfigDefinition("metrics", "list", ""),
    )
}
_INTERVALS_MS = range(100, 3_600_000 + 1)
_MATCHED = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)


class ClientMetricsSubscriptions(NamedConfigs):
    """Resources of type CLIENT_METRICS; a subscription exists while it has a config."""

    def _given(self, state: BrokerState) -> dict[str, Mapping[str, str]]:
        return state.client_metrics

    def entries(self, state: BrokerState, resource: str) -> list[ConfigEntry]:
        """Return all configs, for an unknown subscription the defaults. Raises ConfigsRefused."""
        if not resource:
            raise ConfigsRefused(ErrorCode.INVALID_REQUEST, "A subscription needs a name.")
        given = self.current(state, resource)
        entries = []
        for name, definition in CLIENT_METRICS_CONFIGS.items():
            value = given.get(name, definition.default)
            synonyms = [Synonym(name, value, ConfigSource.CLIENT_METRICS)] if name in given else []
            entries.append(entry_of(name, value, synonyms, definition))
        return entries

    def check(self, _state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused for an unknown config or a bad value."""
        if not resource:
            raise ConfigsRefused(ErrorCode.INVALID_REQUEST, "A subscription needs a name.")
        for name, value in wanted.values.items():
            definition = CLIENT_METRICS_CONFIGS.get(name)
            if definition is None:
                raise ConfigsRefused(
                    ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {name}"
                )
            try:
                parsed = definition.parse(value)
            except ConfigError as error:
                raise ConfigsRefused(ErrorCode.INVALID_CONFIG, str(error)) from error
            if name == "interval.ms" and parsed not in _INTERVALS_MS:
                raise ConfigsRefused(
                    ErrorCode.INVALID_REQUEST,
                    f"interval.ms is {value}, it has to be from {_INTERVALS_MS[0]} to "
                    f"{_INTERVALS_MS[-1]}.",
                )
            if name == "match":
                _check_patterns(value)


def _check_patterns(text: str) -> None:
    for pattern in text.split(",") if text else ():
        name, _, expression = (part.strip() for part in pattern.partition("="))
        # Kafka splits the pattern at each "=" and expects two parts.
        is_pair = bool(expression) and "=" not in expression
        if not is_pair or name not in _MATCHED or not _is_expression(expression):
            raise ConfigsRefused(
                ErrorCode.INVALID_CONFIG, f"This does not match clients: {pattern}"
            )


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True

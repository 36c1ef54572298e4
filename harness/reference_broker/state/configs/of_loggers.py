"""Levels of a broker's loggers (KIP-412). This broker has none that a client may set."""

from collections.abc import Mapping

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.config_definitions.entry import ConfigEntry
from harness.reference_broker.state.configs.changes import Changed
from harness.reference_broker.state.configs.of_brokers import broker_names, check_own_id
from harness.reference_broker.state.configs.refused import ConfigsRefused

_UNKNOWN_ARE_INVALID_CONFIGS = (3, 2)  # class ConfigAdminManager


class LoggerLevels:
    """Resources of type BROKER_LOGGER."""

    def names(self, state: BrokerState) -> list[str]:
        """Return the ids of the brokers that clients see."""
        return broker_names(state)

    def entries(self, state: BrokerState, resource: str) -> list[ConfigEntry]:
        """Return no configs. Raises ConfigsRefused for another broker."""
        check_own_id(state, resource)
        return []

    def current(self, _state: BrokerState, _resource: str) -> Mapping[str, str]:
        """Return no configs."""
        return {}

    def list_default(self, _state: BrokerState, _name: str) -> str | None:
        """Raise ConfigsRefused: a level is no list."""
        raise ConfigsRefused(ErrorCode.INVALID_REQUEST, "A level can only be set or removed.")

    def check_here(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused for every logger."""
        check_own_id(state, resource)
        is_new = state.like.since(*_UNKNOWN_ARE_INVALID_CONFIGS)
        error = ErrorCode.INVALID_CONFIG if is_new else ErrorCode.INVALID_REQUEST
        for name in sorted(wanted.named):
            raise ConfigsRefused(error, f"There is no logger {name}.")

    def check(self, _state: BrokerState, _resource: str, _wanted: Changed) -> None:
        """Accept all: `check_here` has refused every logger."""

    def store(self, _state: BrokerState, _resource: str, _values: Mapping[str, str]) -> None:
        """Store nothing: no level passes `check_here`."""

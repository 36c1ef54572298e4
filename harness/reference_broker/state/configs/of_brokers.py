"""Configs of each broker, and those of all brokers under an empty name.

Source: KIP-226, classes DynamicBrokerConfig (validate), ConfigAdminManager.
"""

from collections.abc import Mapping
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.config_definitions.broker_table import (
    config_named,
    is_behind_a_listener,
)
from harness.reference_broker.state.config_definitions.config_values import ConfigError
from harness.reference_broker.state.config_definitions.entry import (
    ConfigEntry,
    ConfigSource,
    entry_of,
)
from harness.reference_broker.state.config_definitions.layers import (
    ELIGIBLE_LEADERS_ARE_KEPT,
    BrokerConfigLayers,
)
from harness.reference_broker.state.configs.changes import Changed
from harness.reference_broker.state.configs.refused import ConfigsRefused
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER

_ALL_BROKERS = ""
_CONFIGS_CHANGE = (1, 1)  # KIP-226
_IN_SYNC = "min.insync.replicas"
_POOLS = frozenset(
    {
        "background.threads",
        "log.cleaner.threads",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
    }
)


def broker_id_of(resource: str) -> int:
    """Return the id that the name contains. Raises ConfigsRefused for a name that is no id."""
    try:
        return int(resource)
    except ValueError as error:
        raise ConfigsRefused(
            ErrorCode.INVALID_REQUEST, f"A broker id is a number, not '{resource}'."
        ) from error


def check_own_id(state: BrokerState, resource: str) -> None:
    """Raise ConfigsRefused for a name that is not this broker's id."""
    own = state.identity.broker_id
    if broker_id_of(resource) != own:
        raise ConfigsRefused(
            ErrorCode.INVALID_REQUEST, f"This is broker {own}, asked for is {resource}."
        )


class BrokerConfigs:
    """Resources of type BROKER."""

    def names(self, state: BrokerState) -> list[str]:
        """Return the ids of the brokers that clients see."""
        return broker_names(state)

    def entries(self, state: BrokerState, resource: str) -> list[ConfigEntry]:
        """Return this broker's configs, or those set for all brokers. Raises ConfigsRefused."""
        layers = state.configs
        changeable = state.like.since(*_CONFIGS_CHANGE)
        if resource == _ALL_BROKERS and changeable:
            return [
                _entry(name, layers, only=ConfigSource.CLUSTER) for name in sorted(layers.cluster)
            ]
        check_own_id(state, resource)
        entries = [_entry(name, layers) for name in layers.names()]
        return entries if changeable else [replace(one, read_only=True) for one in entries]

    def current(self, state: BrokerState, resource: str) -> Mapping[str, str]:
        """Return the configs that clients have set."""
        return _layer(state, resource)

    def list_default(self, _state: BrokerState, name: str) -> str | None:
        """Return the default of a broker's config that is a list; None for all others."""
        config = config_named(name)
        is_list = config is not None and config.definition.type == "list"
        return (config.default or "") if config is not None and is_list else None

    def check_here(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused for a config that is fixed while the broker runs, or a bad value."""
        if not state.like.since(*_CONFIGS_CHANGE):
            _refuse("The configs of a broker cannot be changed.")
        if resource != _ALL_BROKERS:
            check_own_id(state, resource)
        for name, value in wanted.values.items():
            _check_value(name, value, is_for_all=resource == _ALL_BROKERS)
            if name in _POOLS and (resource != _ALL_BROKERS or name not in state.configs.broker):
                _check_pool(name, int(value), int(_entry(name, state.configs).value or value))

    def check(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused for a broker that is not registered."""
        if resource != _ALL_BROKERS:
            _check_registered(state, broker_id_of(resource))
        _check_in_sync(state, resource, wanted)

    def store(self, state: BrokerState, resource: str, values: Mapping[str, str]) -> None:
        """Store the configs; each topic that inherits from this broker is configured anew."""
        if resource == _ALL_BROKERS:
            state.configs.cluster = dict(values)
        elif (broker_id := broker_id_of(resource)) == state.identity.broker_id:
            state.configs.broker = dict(values)
        else:
            state.configs.others[broker_id] = dict(values)
            return
        state.reconfigure_topics()


def broker_names(state: BrokerState) -> list[str]:
    """Return the ids of the unfenced brokers with a listener for clients."""
    return [str(one.broker_id) for one, _ in state.brokers.alive(CLIENT_LISTENER)]


def _layer(state: BrokerState, resource: str) -> Mapping[str, str]:
    if resource == _ALL_BROKERS:
        return state.configs.cluster
    broker_id = broker_id_of(resource)
    if broker_id == state.identity.broker_id:
        return state.configs.broker
    return state.configs.others.get(broker_id, {})


def _check_registered(state: BrokerState, broker_id: int) -> None:
    if broker_id != state.identity.broker_id and state.brokers.get(broker_id) is None:
        raise ConfigsRefused(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"There is no node with the id {broker_id}."
        )


def _check_value(name: str, value: str, *, is_for_all: bool) -> None:
    config = config_named(name)
    if config is None:
        return  # a plugin may know it
    changeable = "broker" if is_behind_a_listener(name) else config.changeable
    if config.changeable == "fixed":
        _refuse(f"{name} cannot be changed while the broker runs.")
    if changeable == "listener":
        _refuse(f"{name} can be changed only for one listener, behind its prefix.")
    if changeable == "broker" and is_for_all:
        _refuse(f"{name} cannot be changed for all brokers, only for one.")
    try:
        config.definition.parse(value)
    except ConfigError as error:
        _refuse(str(error))


def _check_pool(name: str, wanted: int, present: int) -> None:
    """Raise ConfigsRefused if a pool of threads would shrink below half or grow beyond double.

    Source: classes DynamicThreadPool, LogCleaner (validateReconfiguration).
    """
    if wanted < present // 2:
        _refuse(f"{name} is {present}: {wanted} is less than half of it.")
    if wanted > 2 * present:
        _refuse(f"{name} is {present}: {wanted} is more than double of it.")


def _check_in_sync(state: BrokerState, resource: str, wanted: Changed) -> None:
    """Raise ConfigsRefused if min.insync.replicas of all brokers would be removed, or that of one
    broker changed: since 4.1 eligible leaders need the cluster's value (KIP-966).
    """
    if not state.like.since(*ELIGIBLE_LEADERS_ARE_KEPT):
        return
    values = wanted.values
    if resource == _ALL_BROKERS:
        if _IN_SYNC not in values:
            raise ConfigsRefused(
                ErrorCode.INVALID_CONFIG, f"{_IN_SYNC} of all brokers cannot be removed."
            )
    elif _IN_SYNC in wanted.named or values.get(_IN_SYNC) != _layer(state, resource).get(_IN_SYNC):
        raise ConfigsRefused(
            ErrorCode.INVALID_CONFIG, f"{_IN_SYNC} of one broker cannot be changed."
        )


def _refuse(message: str) -> None:
    raise ConfigsRefused(ErrorCode.INVALID_REQUEST, message)


def _entry(name: str, layers: BrokerConfigLayers, only: ConfigSource | None = None) -> ConfigEntry:
    config = config_named(name)
    synonyms = [s for s in layers.synonyms(name) if only is None or s.source is only]
    value = synonyms[0].value if synonyms else None
    definition = None if config is None else config.definition
    if value is not None and definition is not None and definition.type != "password":
        value = definition.shown(value)
    fixed = config is None or config.changeable == "fixed"
    return entry_of(name, value, synonyms, definition, read_only=fixed)

"""Kinds of resources with configs, by their numbers in requests (class ConfigResource.Type)."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Protocol

from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.config_definitions.entry import ConfigEntry
from harness.reference_broker.state.configs.changes import Changed
from harness.reference_broker.state.configs.of_brokers import BrokerConfigs
from harness.reference_broker.state.configs.of_client_metrics import ClientMetricsSubscriptions
from harness.reference_broker.state.configs.of_groups import GroupConfigs
from harness.reference_broker.state.configs.of_loggers import LoggerLevels
from harness.reference_broker.state.configs.of_topics import TopicConfigs


class ResourceType(IntEnum):
    """Kinds of resources."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigKind(Protocol):
    """Descriptions and changes of the resources of one type."""

    def names(self, state: BrokerState) -> list[str]:
        """Return the names of all resources of this type."""

    def entries(self, state: BrokerState, resource: str) -> list[ConfigEntry]:
        """Return all configs of one resource. Raises ConfigsRefused."""

    def current(self, state: BrokerState, resource: str) -> Mapping[str, str]:
        """Return the configs that clients have set."""

    def list_default(self, state: BrokerState, name: str) -> str | None:
        """Return the default of a config that is a list; None for all others."""

    def check(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused if the controller does not accept these configs for the resource."""

    def store(self, state: BrokerState, resource: str, values: Mapping[str, str]) -> None:
        """Store these configs for the resource; the caller has checked them."""


class KindOfOneBroker(ConfigKind, Protocol):
    """Resources that the broker checks before its controller does (class ConfigAdminManager)."""

    def check_here(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused if this broker does not accept these configs."""


OF_ONE_BROKER: Mapping[int, KindOfOneBroker] = {
    ResourceType.BROKER: BrokerConfigs(),
    ResourceType.BROKER_LOGGER: LoggerLevels(),
}
KINDS: Mapping[int, ConfigKind] = {
    ResourceType.TOPIC: TopicConfigs(),
    **OF_ONE_BROKER,
    ResourceType.CLIENT_METRICS: ClientMetricsSubscriptions(),
    ResourceType.GROUP: GroupConfigs(),
}

"""What has configs, by the numbers that requests use (class ConfigResource.Type)."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Protocol

from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.configs.changes import Changed
from harness.reference_broker.state.configs.entry import ConfigEntry
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
    """How the resources of one type are shown and changed."""

    def names(self, state: BrokerState) -> list[str]:
        """The resources that there are."""

    def entries(self, state: BrokerState, resource: str) -> list[ConfigEntry]:
        """All configs of one. Raises ConfigsRefused."""

    def current(self, state: BrokerState, resource: str) -> Mapping[str, str]:
        """What clients have given."""

    def list_default(self, state: BrokerState, name: str) -> str | None:
        """The default of a config that is a list; None for all others."""

    def check(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raises ConfigsRefused where the resource cannot be configured so, by the controller."""

    def store(self, state: BrokerState, resource: str, values: Mapping[str, str]) -> None:
        """Configure it so; it was checked before."""


class KindOfOneBroker(ConfigKind, Protocol):
    """What a broker looks at itself before its controller does (class ConfigAdminManager)."""

    def check_here(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raises ConfigsRefused where this broker cannot be configured so."""


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

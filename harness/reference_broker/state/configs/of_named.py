"""Configs of client metrics subscriptions and of groups: what both do in the same way."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from harness.reference_broker.state.broker import BrokerState


class NamedConfigs(ABC):
    """Configs of resources that are known by name while they have one."""

    @abstractmethod
    def _given(self, state: BrokerState) -> dict[str, Mapping[str, str]]:
        """The configs that clients have set, by resource."""

    def names(self, state: BrokerState) -> list[str]:
        """Return all resources with configs of their own."""
        return list(self._given(state))

    def current(self, state: BrokerState, resource: str) -> Mapping[str, str]:
        """Return the configs that clients have set."""
        return self._given(state).get(resource, {})

    def list_default(self, _state: BrokerState, _name: str) -> str | None:
        """Return None: Kafka does not append to lists of these resources."""
        return None

    def store(self, state: BrokerState, resource: str, values: Mapping[str, str]) -> None:
        """Store the configs; a resource without configs is no longer known."""
        given = self._given(state)
        given.pop(resource, None)
        if values:
            given[resource] = dict(values)

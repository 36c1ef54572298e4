"""A broker's own identity in a cluster, and its way to the controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from harness.base.ids import BrokerId
from harness.reference_broker.state.registrations.brokers import BrokerRegistration, Endpoint
from harness.security.settings import SecurityProtocol

if TYPE_CHECKING:
    from harness.reference_broker.cluster.link_security import LinkSecurity

INTERNAL_LISTENER = "INTERNAL"
"""The listener for brokers, if it is not the one for clients."""
CONTROLLER_LISTENER = "CONTROLLER"


@dataclass(slots=True)
class NodeMembership:
    """One incarnation of a broker; ``epoch`` is -1 until the controller has assigned one.

    ``previous_epoch`` is that of the last incarnation after a controlled shutdown, else -1.
    ``ways`` maps advertised addresses to those that the broker connects to instead. ``failed``
    returns the ``directories`` that cannot be used any more; ``told`` is called with those of them
    that the controller knows.
    """

    broker_id: BrokerId
    cluster_id: str
    controller: Endpoint
    listeners: Mapping[str, Endpoint]
    directories: Sequence[UUID]
    rack: str | None = None
    incarnation_id: UUID = field(default_factory=uuid4)
    epoch: int = -1
    previous_epoch: int = -1
    ways: Mapping[Endpoint, Endpoint] = field(default_factory=dict)
    metadata_offset: int = -1
    failed: Callable[[], Sequence[UUID]] = tuple
    told: Callable[[Sequence[UUID]], None] = lambda _: None
    security: Mapping[str, LinkSecurity | None] = field(default_factory=dict)
    """The way into the listeners of other nodes, by their names."""
    protocols: Mapping[str, SecurityProtocol] = field(default_factory=dict)
    """Of the own listeners; one that is not named is PLAINTEXT."""

    @property
    def inter_broker_listener(self) -> str:
        """The name of the listener through which brokers connect to each other."""
        has_internal = INTERNAL_LISTENER in self.listeners
        return INTERNAL_LISTENER if has_internal else next(iter(self.listeners))

    @property
    def security_between_brokers(self) -> LinkSecurity | None:
        """The way into the listener through which brokers connect to each other."""
        return self.security.get(self.inter_broker_listener)

    def way_to(self, told: Endpoint) -> Endpoint:
        """Return the address to which connections for this advertised address go."""
        return self.ways.get(told, told)

    def way_to_broker(self, registered: BrokerRegistration | None) -> Endpoint | None:
        """Return the address to which connections for another broker go; None if unknown."""
        if registered is None:
            return None
        advertised = registered.listeners.get(self.inter_broker_listener)
        return None if advertised is None else self.way_to(advertised)

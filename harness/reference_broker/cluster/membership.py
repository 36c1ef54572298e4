"""What a broker of a cluster knows of itself and of how to reach the controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from harness.ids import BrokerId
from harness.reference_broker.state.brokers import Endpoint

INTERNAL_LISTENER = "INTERNAL"
"""The listener for brokers, where there is one beside that for clients."""
CONTROLLER_LISTENER = "CONTROLLER"


@dataclass(slots=True)
class Membership:
    """One incarnation. ``epoch`` is -1 until the controller has given one.

    ``previous_epoch`` is that of the last incarnation if it ended in good order, else -1. ``ways``:
    where connections are opened instead, by the address that others tell. ``failed`` tells which
    of the ``directories`` cannot be used any more, ``told`` hears of which the controller knows it.
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

    @property
    def inter_broker_listener(self) -> str:
        """Where brokers reach each other."""
        has_internal = INTERNAL_LISTENER in self.listeners
        return INTERNAL_LISTENER if has_internal else next(iter(self.listeners))

    def way_to(self, told: Endpoint) -> Endpoint:
        """Where a connection to this address is opened."""
        return self.ways.get(told, told)

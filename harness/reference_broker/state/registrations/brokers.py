"""The brokers of the cluster, as the metadata log has them. Only this file changes them.

Source: classes BrokerRegistration and ClusterImage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from harness.base.ids import BrokerId
from harness.reference_broker.state.registrations.directory_ids import is_online

if TYPE_CHECKING:
    from harness.codec.messages import BrokerRegistrationChangeRecord, RegisterBrokerRecord

FENCE, UNFENCE = 1, -1
IN_CONTROLLED_SHUTDOWN = 1
CLIENT_LISTENER = "PLAINTEXT"
"""The listener for clients."""


class Endpoint(NamedTuple):
    """Host and port of a listener."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """One incarnation of a broker. `listeners` are its endpoints by listener name.

    A fenced broker leads no partition and is not returned to clients; `epoch` identifies the
    incarnation to other nodes. `directories` are the log directories that have not failed.
    """

    broker_id: BrokerId
    epoch: int
    incarnation_id: UUID
    listeners: Mapping[str, Endpoint]
    rack: str | None = None
    is_fenced: bool = True
    is_shutting_down: bool = False
    directories: tuple[UUID, ...] = ()

    @classmethod
    def read(cls, record: RegisterBrokerRecord) -> BrokerRegistration:
        """Return the registration that a record contains."""
        return cls(
            BrokerId(record.broker_id),
            record.broker_epoch,
            record.incarnation_id,
            {one.name: Endpoint(one.host, one.port) for one in record.end_points},
            record.rack,
            record.fenced,
            record.in_controlled_shutdown,
            tuple(record.log_dirs),
        )

    def changed(self, change: BrokerRegistrationChangeRecord) -> BrokerRegistration:
        """Return the registration after a change."""
        changed = self
        if change.fenced in (FENCE, UNFENCE):
            changed = replace(changed, is_fenced=change.fenced == FENCE)
        if change.in_controlled_shutdown == IN_CONTROLLED_SHUTDOWN:
            changed = replace(changed, is_shutting_down=True)
        if change.log_dirs:
            changed = replace(changed, directories=tuple(change.log_dirs))
        return changed


class Brokers:
    """All registered brokers, by id."""

    __slots__ = ("_by_id",)

    def __init__(self) -> None:
        self._by_id: dict[BrokerId, BrokerRegistration] = {}

    def all(self) -> list[BrokerRegistration]:
        """Return all registrations in the order of their ids."""
        return [self._by_id[broker_id] for broker_id in sorted(self._by_id)]

    def alive(self, listener: str) -> Iterable[tuple[BrokerRegistration, Endpoint]]:
        """Yield the unfenced brokers that have this listener, each with its endpoint."""
        return (each for each in self.with_listener(listener) if not each[0].is_fenced)

    def with_listener(self, listener: str) -> Iterable[tuple[BrokerRegistration, Endpoint]]:
        """Yield all brokers that have this listener, fenced ones too, each with its endpoint."""
        for one in self.all():
            if listener in one.listeners:
                yield one, one.listeners[listener]

    def get(self, broker_id: int) -> BrokerRegistration | None:
        """Return the registration of a broker; None if there is none."""
        return self._by_id.get(BrokerId(broker_id))

    def is_active(self, broker_id: int) -> bool:
        """True if a broker may lead and be in sync: registered, unfenced, not shutting down."""
        one = self.get(broker_id)
        return one is not None and not one.is_fenced and not one.is_shutting_down

    def has_online(self, broker_id: int, directory: UUID) -> bool:
        """True if a broker can serve a replica in this log directory."""
        one = self.get(broker_id)
        return one is not None and is_online(directory, one.directories)

    def put(self, registration: BrokerRegistration) -> None:
        """Add a new incarnation, or replace a registration by its changed form."""
        self._by_id[registration.broker_id] = registration

    def remove(self, broker_id: int) -> None:
        """Remove a broker that was unregistered."""
        self._by_id.pop(BrokerId(broker_id), None)

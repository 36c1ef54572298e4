"""A private broker of this process that several of its tests get, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.targets.target import JOIN_AS_BROKER, Target

UNHURRIED = {
    # No replica leaves an ISR, and no broker the cluster, because time has passed.
    "replica.lag.time.max.ms": "600000",
    "broker.session.timeout.ms": "600000",
    "auto.leader.rebalance.enable": "false",
    # Whatever is made by itself could be given to a virtual broker.
    "auto.create.topics.enable": "false",
}
"""Settings of a broker that virtual ones join."""


@dataclass(slots=True)
class PooledBroker:
    """A broker that tests may harm: started on first use, replaced if it died, stopped at the end.

    ``settings`` by Kafka's names; ``capability``: another one that it must have, "" for none.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    capability: str = ""
    _running: Target | None = None

    def acquire(self, like: Callable[[], Target]) -> Target:
        """Return a running broker like ``like()``; raises MissingCapability, TargetError."""
        if self._running is not None and not self._running.is_alive():
            self.stop()
        if self._running is None:
            kind = like()
            if self.capability:
                kind.require(self.capability)
            self._running = kind.start_another(self.settings)
        return self._running

    def stop(self) -> None:
        """Stop it; twice is fine."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()


def joinable_broker() -> PooledBroker:
    """A pooled broker that virtual brokers join."""
    return PooledBroker(UNHURRIED, JOIN_AS_BROKER)

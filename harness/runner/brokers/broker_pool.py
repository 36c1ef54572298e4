"""The private brokers of one process that its tests get one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.runner.broker_request import BrokerRequest, Use
from harness.runner.brokers.pooled_broker import PooledBroker, joinable_broker
from harness.targets.target import Target


@dataclass(slots=True)
class BrokerPool:
    """One broker for each pooled use; of tuned ones, that with the last requested settings."""

    _brokers: dict[Use, PooledBroker] = field(
        default_factory=lambda: {
            Use.TUNED: PooledBroker(),
            Use.DISPOSABLE: PooledBroker(),
            Use.JOINABLE: joinable_broker(),
        }
    )

    def acquire(self, request: BrokerRequest, like: Callable[[], Target]) -> Target:
        """Return a running broker of the kind of ``like()``.

        Raises MissingCapability, TargetError.
        """
        use = request.use
        if use is Use.TUNED and self._brokers[use].settings != request.settings:
            self._brokers[use].stop()
            self._brokers[use] = PooledBroker(request.settings)
        return self._brokers[use].acquire(like)

    def replace(self, use: Use) -> None:
        """End this one: the next test gets a new broker.

        A test that did not pass may have left its broker in any state, which must not decide
        the tests behind it.
        """
        self._brokers[use].stop()

    def stop(self) -> None:
        """End them all; twice is fine."""
        for broker in self._brokers.values():
            broker.stop()

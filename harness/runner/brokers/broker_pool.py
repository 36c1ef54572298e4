"""The private brokers of one process that its tests get one after the other, by their marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.runner.brokers.disposable_broker import DiscardedBroker, joined_broker
from harness.targets.target import Target

MARKS = ("tuned_broker", "discarded_broker", "joined_broker")


@dataclass(slots=True)
class LentBrokers:
    """One broker a mark; of tuned ones only that with the settings asked for last is kept."""

    _brokers: dict[str, DiscardedBroker] = field(
        default_factory=lambda: {
            "tuned_broker": DiscardedBroker(),
            "discarded_broker": DiscardedBroker(),
            "joined_broker": joined_broker(),
        }
    )

    def lend(self, mark: str, settings: Mapping[str, str], like: Callable[[], Target]) -> Target:
        """A running broker of the kind of ``like()``; raises MissingCapability, TargetError.

        ``settings`` by Kafka's names, for a tuned one.
        """
        if mark == "tuned_broker" and self._brokers[mark].settings != settings:
            self._brokers[mark].stop()
            self._brokers[mark] = DiscardedBroker(settings)
        return self._brokers[mark].lend(like)

    def replace(self, mark: str) -> None:
        """End this one: the next test gets a new broker.

        A test that did not pass may have left its broker in any state, which must not decide
        the tests behind it.
        """
        self._brokers[mark].stop()

    def stop(self) -> None:
        """End them all; twice is fine."""
        for broker in self._brokers.values():
            broker.stop()

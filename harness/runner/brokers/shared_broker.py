"""The broker that the tests of one process share, and its replacement when it dies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.address import Address
from harness.runner.run_session import WorkerContext
from harness.targets.first_broker import FirstBroker, first_broker
from harness.targets.target import OWN_BROKER, Target


@dataclass(slots=True)
class SharedBroker:
    """The run's broker; after its death a private one of this process, if the target allows that.

    A broker that dies in one test would leave all later tests without an answer. If several
    processes use it, the test that killed it is unknown.
    """

    context: WorkerContext
    make_target: Callable[[], Target]
    alone: bool
    """No other process asks the run's broker."""
    own: Target | None = None
    _client: FirstBroker | None = None

    @property
    def addresses(self) -> Sequence[Address]:
        return self.own.addresses if self.own else self.context.info.addresses

    @property
    def client(self) -> FirstBroker:
        """The broker that tests of one broker ask."""
        if self._client is None:
            info = self.context.info
            reached = {} if self.own else info.reached
            self._client = first_broker(self.addresses, info.api_versions, reached)
        return self._client

    @property
    def nodes(self) -> Sequence[int]:
        """Broker ids, in the order of ``addresses``; empty when they are not known."""
        return self.own.nodes if self.own else self.context.info.nodes

    @property
    def zookeeper(self) -> Address | None:
        return self.own.zookeeper if self.own else self.context.info.zookeeper

    @property
    def log_path(self) -> Path | None:
        if self.own:
            return self.own.log_path
        return Path(self.context.info.log_path) if self.context.info.log_path else None

    @property
    def is_ours_alone(self) -> bool:
        """True if only tests of this process can have killed it."""
        return self.alone or self.own is not None

    @property
    def can_be_replaced(self) -> bool:
        return OWN_BROKER in self.context.info.capabilities

    def replace(self) -> None:
        """Go on with a new broker. Raises TargetError when it does not start."""
        self.close()
        nodes = max(1, len(self.context.info.nodes))
        self.own = self.make_target().start_another(nodes=nodes)

    def close(self) -> None:
        """Stop what was started here; twice is fine."""
        own, self.own, self._client = self.own, None, None
        if own is not None:
            own.stop()

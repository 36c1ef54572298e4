"""A broker that is thrown away after the session: what tests do to it harms nobody."""

from __future__ import annotations

from collections.abc import Callable

from harness.targets.target import Target


class DiscardedBroker:
    """Started when first asked for, replaced when it has died, stopped at the end."""

    def __init__(self) -> None:
        self._running: Target | None = None

    def lend(self, like: Callable[[], Target]) -> Target:
        """A running broker of the kind of ``like()``; raises MissingCapability, TargetError."""
        if self._running is not None and not self._running.is_alive():
            self.stop()
        if self._running is None:
            self._running = like().start_another()
        return self._running

    def stop(self) -> None:
        """Stop it; twice is fine."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()

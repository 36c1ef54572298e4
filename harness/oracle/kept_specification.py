"""The built-in broker as a process with its logs in files, for comparison across restarts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.base.address import Address
from harness.oracle.specification import spec_like
from harness.targets.reference import QUICK_RETURN, ReferenceBroker, without_zookeeper


class KeptSpecification:
    """A specification that can be ended and restarted. Use as a context manager.

    Attributes:
        spec: as ``--target`` has it; the explained differences are found by it.
    """

    def __init__(self, like: str, settings: Mapping[str, str]) -> None:
        """``like``: a release that the built-in broker can be like, empty for none."""
        self.spec = spec_like(like)
        self._like, self._settings = like, {**QUICK_RETURN, **without_zookeeper(settings)}
        self._stack = ExitStack()
        self._running: ReferenceBroker | None = None

    def __enter__(self) -> KeptSpecification:
        logs = Path(self._stack.enter_context(TemporaryDirectory(prefix="kafka-conformance-")))
        made = ReferenceBroker(log_dir=logs, settings=self._settings, like=self._like, on_disk=True)
        self._running = self._stack.enter_context(made)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def _broker(self) -> ReferenceBroker:
        assert self._running is not None, "use as a context manager"
        return self._running

    @property
    def address(self) -> Address:
        """The address where it listens, the same after each start."""
        return self._broker.addresses[0]

    def stop(self) -> None:
        """End it as an operator would."""
        self._broker.stop_node(self._broker.nodes[0])

    def kill(self) -> None:
        """End it by SIGKILL."""
        self._broker.kill_node(self._broker.nodes[0])

    def start(self) -> None:
        """Start it again with its data."""
        self._broker.restart_node(self._broker.nodes[0])

"""A private broker with data that outlives its process: a test ends, damages and restarts it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.client.errors import DidNotStart
from harness.targets.errors import TargetStartError

if TYPE_CHECKING:
    from harness.client.broker import BrokerUnderTest
    from harness.targets.target import Target


class PersistentBroker:
    """A broker that can be ended and restarted with its data.

    ``client`` leads to it while it runs, at the same address after each start.
    """

    def __init__(self, target: Target, client: BrokerUnderTest) -> None:
        """``target``: running, with one broker. Its caller stops it."""
        self.client = client
        self._target = target
        (self._node,) = target.nodes

    def stop(self) -> None:
        """End it as an operator would, and await its end."""
        self.client.hang_up()
        self._target.stop_node(self._node)

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.client.hang_up()
        self._target.kill_node(self._node)

    def start(self) -> None:
        """Start it again, with the data that is there now, and await its answer.

        Raises DidNotStart when it does not come back: that is the broker's doing.
        """
        try:
            self._target.restart_node(self._node)
        except TargetStartError as problem:
            raise DidNotStart(f"it does not start again: {problem}") from problem

    @property
    def folders(self) -> list[Path]:
        """Its ``log.dirs``, in the order in which it was given them."""
        return self._target.log_directories(self._node)

    def partition_folder(self, topic: str, index: int = 0) -> Path:
        """Return the folder of this partition; raises FileNotFoundError if there is none."""
        name = f"{topic}-{index}"
        for folder in self.folders:
            if (folder / name).is_dir():
                return folder / name
        raise FileNotFoundError(f"{name} is in none of {', '.join(map(str, self.folders))}")

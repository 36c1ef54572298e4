"""One container of ours, and what can be done to it, with the daemon's refusals in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from harness.targets.containers.daemon import asked, said
from harness.targets.containers.image_contract import ContainerAddresses
from harness.targets.containers.options import HOST
from harness.targets.containers.ownership import owner_labels
from harness.targets.errors import TargetError
from harness.targets.start_again import StartAgain

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

BRIDGE = "bridge"
END_TIMEOUT_S = 30
LOG_LINES = 1000
LOG_LIMIT_BYTES = 64 * 1024
PORT_TAKEN = ("port is already allocated", "address already in use")
ALIVE = ("running", "paused")


class HostPortTaken(StartAgain):
    """Another process holds the port that was to be published: another port may be free."""


class BrokerContainer:
    """A container made for one run; it is removed by the run's guard.

    ``network`` is :data:`.options.HOST`, or the port of ``place`` is published at 127.0.0.1.
    """

    def __init__(
        self,
        client: DockerClient,
        image: Image,
        *,
        run: str,
        place: ContainerAddresses,
        network: str,
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        """Make it; it is not started yet. Raises TargetError."""
        self._client = client
        self._is_cut_off = False
        joined: dict[str, Any] = {"network_mode": HOST}
        if network != HOST:
            published = {f"{place.listen_port}/tcp": (place.host, place.port)}
            joined = {"network": BRIDGE, "ports": published}
        with asked("make a container"):
            self._container = client.containers.create(
                image,
                list(command) or None,
                environment=dict(environment),
                labels=owner_labels(run),
                **joined,
            )

    # -- what it is doing ----------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        """The daemon's account of it. Raises TargetError: none."""
        with asked("read the state of a container"):
            self._container.reload()
        state: dict[str, Any] = self._container.attrs["State"]
        return state

    def is_alive(self) -> bool:
        """True if it runs or is paused; False too if the daemon does not return its state."""
        try:
            return self._state()["Status"] in ALIVE
        except TargetError:
            return False

    @property
    def pid(self) -> int | None:
        """Process id of its first process as the daemon sees it, None when it does not run."""
        return self._state()["Pid"] or None

    @property
    def exit_code(self) -> int:
        """Exit status (128 + n after signal n) of a container that has ended."""
        return int(self._state()["ExitCode"])

    def log_text(self) -> str:
        """Return the recent output of all its starts (the end, at most 64 KiB)."""
        with asked("read the log of a container"):
            text: bytes = self._container.logs(tail=LOG_LINES)
        return text[-LOG_LIMIT_BYTES:].decode(errors="replace")

    # -- what is done to it --------------------------------------------------------------------

    def start(self) -> None:
        """Start it, again too, with its files and its port. Raises TargetError, PortTaken."""
        from docker.errors import APIError

        with asked("start the container"):
            try:
                self._container.start()
            except APIError as problem:
                if any(words in said(problem) for words in PORT_TAKEN):
                    raise HostPortTaken(said(problem)) from problem
                raise

    def stop(self, timeout_ms: int) -> None:
        """SIGTERM, SIGKILL at the deadline; awaits the end."""
        with self._thawed("stop the container"):
            self._container.stop(timeout=max(1, timeout_ms // 1000))

    def kill(self) -> None:
        """SIGKILL; awaits the end. Already ended is fine."""
        from docker.errors import APIError

        with self._thawed("kill the container"):
            try:
                self._container.kill()
            except APIError as problem:
                if problem.status_code != 409:  # it does not run
                    raise
            self._container.wait(timeout=END_TIMEOUT_S)

    @contextmanager
    def _thawed(self, what: str) -> Iterator[None]:
        """The daemon ends no container that is paused."""
        self.resume()
        with asked(what):
            yield

    def pause(self) -> None:
        """Freeze all its processes; twice is fine."""
        if self._state()["Status"] != "paused":
            with asked("pause the container"):
                self._container.pause()

    def resume(self) -> None:
        """Thaw what is frozen."""
        if self._state()["Status"] == "paused":
            with asked("resume the container"):
                self._container.unpause()

    def disconnect(self) -> None:
        """Take it out of its network, with its published port; twice is fine."""
        if not self._is_cut_off:
            with asked("disconnect the container"):
                self._client.networks.get(BRIDGE).disconnect(self._container)
            self._is_cut_off = True

    def reconnect(self) -> None:
        """Put it back; its port is published again."""
        if self._is_cut_off:
            with asked("connect the container"):
                self._client.networks.get(BRIDGE).connect(self._container)
            self._is_cut_off = False

"""``docker:IMAGE``: one broker in a container of the Docker daemon of this machine."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.address import Address
from harness.targets.asking import ask_cluster
from harness.targets.command import is_taken
from harness.targets.command_file import filled
from harness.targets.containers.container import BrokerContainer, HostPortTaken
from harness.targets.containers.daemon import asked, connect, find_image
from harness.targets.containers.guarding import Guard
from harness.targets.containers.image_contract import (
    IMPLEMENTATION_LABEL,
    RELEASE_LABEL,
    WITHOUT_LABEL,
    ContainerAddresses,
    image_capabilities,
    variables,
)
from harness.targets.containers.options import HOST, PORT, PUBLISHED, ContainerOptions
from harness.targets.containers.ownership import remove_orphans, remove_run
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.not_answered import NotAnswered
from harness.targets.ports import free_ports
from harness.targets.process import reserve_log
from harness.targets.ready import wait_until_ready
from harness.targets.start_again import until_started
from harness.targets.target import (
    DISCONNECT_NODE,
    KILL_NODE,
    LOGS,
    OWN_BROKER,
    PAUSE_NODE,
    RESTART_NODE,
    STOP_NODE,
    Target,
)

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

LOCALHOST = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside a container, published at 127.0.0.1 only
START_TIMEOUT_MS = 120_000
STOP_TIMEOUT_MS = 30_000
ASK_TIMEOUT_MS = 10_000
LOG_LINES = 20

OF_A_CONTAINER = frozenset({OWN_BROKER, STOP_NODE, KILL_NODE, PAUSE_NODE, LOGS})
OF_A_NETWORK = {PUBLISHED: frozenset({DISCONNECT_NODE}), HOST: frozenset[str]()}


class DockerTarget(Target):
    """One broker in a container.

    ``implementation``, ``release`` and what of ``capabilities`` depends on the image are known
    after the first start, from the image's labels (:mod:`.image_contract`); before it they are
    what an image without labels has.
    """

    def __init__(
        self,
        options: ContainerOptions,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        start_timeout_ms: int = START_TIMEOUT_MS,
    ) -> None:
        super().__init__(log_dir)
        self.options = options
        self.spec = options.spec
        self.settings = dict(settings or {})
        self.capabilities = self._capabilities(WITHOUT_LABEL)
        name, _, tag = _short_name(options.image).partition(":")
        self.implementation = options.implementation or name
        self.release = options.release or tag or "unknown"
        self._start_timeout_ms = start_timeout_ms
        self._client: DockerClient | None = None
        self._container: BrokerContainer | None = None
        self._guard: Guard | None = None
        self._place: ContainerAddresses | None = None
        self._log_path: Path | None = None

    def _capabilities(self, of_the_image: frozenset[str]) -> frozenset[str]:
        return OF_A_CONTAINER | OF_A_NETWORK[self.options.network] | of_the_image

    @property
    def log_path(self) -> Path | None:
        return self._log_path

    @property
    def pid_at_daemon(self) -> int | None:
        """Process id of the broker in the daemon's pid namespace, which may differ from ours; None
        if it does not run."""
        return self._container.pid if self._container else None

    # -- start and stop ------------------------------------------------------------------------

    def start(self) -> list[Address]:
        if self.addresses and self.is_alive():
            return self.addresses
        self.stop()
        return until_started(self.spec, self._launch, self.stop)

    def _launch(self) -> list[Address]:
        client = self._client = connect()
        with asked("remove what ended runs have left"):
            remove_orphans(client)
        image = find_image(client, self.options.image)
        self._read_labels(image)
        place = self._place = self._choose_place()
        values = place.values(self.settings)
        own = {name: filled(text, values) for name, text in self.options.environment.items()}
        run = uuid.uuid4().hex
        name = re.sub(r"[^\w.-]", "-", _short_name(self.options.image))
        self._log_path = reserve_log(self._log_folder(), f"docker-{name}")
        self._guard = Guard(run, self._log_path)  # before there is anything to remove
        self._container = BrokerContainer(
            client,
            image,
            run=run,
            place=place,
            network=self.options.network,
            command=[filled(word, values) for word in self.options.command],
            environment={**variables(values), **own},
        )
        return self._start_container(self._container, self._guard, place)

    def _start_container(
        self, container: BrokerContainer, guard: Guard, place: ContainerAddresses
    ) -> list[Address]:
        container.start()
        guard.follow()
        address = Address(place.host, place.port)
        self._await_answer(address)
        self.nodes = [self._ask_broker_id(address)]
        self.addresses = [address]
        return self.addresses

    def _read_labels(self, image: Image) -> None:
        labels: dict[str, str] = image.labels or {}
        self.capabilities = self._capabilities(image_capabilities(labels, self.options.image))
        given = self.options
        self.implementation = (
            given.implementation or labels.get(IMPLEMENTATION_LABEL) or self.implementation
        )
        self.release = given.release or labels.get(RELEASE_LABEL) or self.release

    def _choose_place(self) -> ContainerAddresses:
        port, controller_port = free_ports(2)
        if self.options.network == HOST:
            port = self.options.port or port
            return ContainerAddresses(LOCALHOST, port, LOCALHOST, port, controller_port)
        inside = self.options.port or PORT
        return ContainerAddresses(
            EVERYWHERE, inside, LOCALHOST, port, inside + 1 if inside < 65_535 else 1024
        )

    def _await_answer(self, address: Address) -> None:
        try:
            wait_until_ready(address, self._start_timeout_ms, self._check_running)
        except TargetStartError as problem:
            if not self.is_alive():
                raise
            raise TargetStartError(f"{problem}; {self._log_ends()}") from problem
        self._check_running()  # else another process answered on the port that we chose

    def _check_running(self) -> None:
        """For the time of waiting: raises at once when the container has ended."""
        if self.is_alive():
            return
        place = self._place
        if self.options.network == HOST and place is not None:
            taken = [port for port in (place.port, place.controller_port) if is_taken(port)]
            if taken:
                raise HostPortTaken(f"port {taken[0]} was taken by another process")
        raise TargetStartError(self._ended("ended before it answered"))

    @staticmethod
    def _ask_broker_id(address: Address) -> int:
        try:
            return ask_cluster(address, ASK_TIMEOUT_MS).nodes[0]
        except NotAnswered as problem:
            raise TargetStartError(
                f"the broker at {address} cannot be asked: {problem}"
            ) from problem

    def stop(self) -> None:
        guard, client = self._guard, self._client
        self._guard = self._client = self._container = self._place = None
        self.addresses, self.nodes = [], []
        if guard is not None:
            guard.end()
        if client is not None:
            try:
                if guard is not None:
                    with asked("remove the container"):
                        remove_run(client, guard.run)  # the guard may have been killed
            finally:
                client.close()

    # -- what became of it ---------------------------------------------------------------------

    def is_alive(self) -> bool:
        return self._container is not None and self._container.is_alive()

    def describe_failure(self) -> str | None:
        if self._container is None or self._container.is_alive():
            return None
        return self._ended("ended")

    def _ended(self, how: str) -> str:
        status = self._container.exit_code if self._container else "unknown"
        return f"the container of {self.spec} {how}, with status {status}; {self._log_ends()}"

    def _log_ends(self) -> str:
        text = self._container.log_text() if self._container else ""
        lines = [f"    {line}" for line in text.splitlines()[-LOG_LINES:]]
        last = "\n".join(lines) or "    (the log is empty)"
        return f"its log {self._log_path} ends with\n{last}"

    def _another(self, settings: dict[str, str]) -> DockerTarget:
        return DockerTarget(
            self.options,
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
            start_timeout_ms=self._start_timeout_ms,
        )

    # -- the one node --------------------------------------------------------------------------

    def _node(self, node: int, capability: str) -> BrokerContainer:
        self.require(capability)
        self.address_of(node)
        if self._container is None:
            raise TargetError(f"{self.spec} is not started")
        return self._container

    def stop_node(self, node: int) -> None:
        self._node(node, STOP_NODE).stop(STOP_TIMEOUT_MS)

    def kill_node(self, node: int) -> None:
        self._node(node, KILL_NODE).kill()

    def pause_node(self, node: int) -> None:
        self._node(node, PAUSE_NODE).pause()

    def resume_node(self, node: int) -> None:
        self._node(node, PAUSE_NODE).resume()

    def disconnect_node(self, node: int) -> None:
        self._node(node, DISCONNECT_NODE).disconnect()

    def reconnect_node(self, node: int) -> None:
        self._node(node, DISCONNECT_NODE).reconnect()

    def logs(self, node: int) -> str:
        return self._node(node, LOGS).log_text()

    def restart_node(self, node: int) -> None:
        container = self._node(node, RESTART_NODE)
        assert self._guard is not None
        assert self._place is not None
        if container.is_alive():
            container.stop(STOP_TIMEOUT_MS)
        try:
            self._start_container(container, self._guard, self._place)
        except HostPortTaken as problem:
            raise TargetStartError(
                f"{self.spec}: broker {node} lost its port: {problem}"
            ) from problem


def _short_name(image: str) -> str:
    """The last word of an image's name with its tag, without registry and digest."""
    return image.partition("@")[0].rpartition("/")[2]

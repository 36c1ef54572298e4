"""Our own broker, as a process like any other: it has no privileges."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from harness.base.address import Address
from harness.reference_broker.emulated_release import releases
from harness.reference_broker.settings import BrokerSettings, SettingError, folders_of
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.kind import Making, TargetKind, choose, refuse_words, settings_among
from harness.targets.older import older_than
from harness.targets.options import split_options
from harness.targets.ports import free_ports
from harness.targets.process import Deadline, reserve_log
from harness.targets.process_target import ProcessTarget
from harness.targets.ready import wait_until_ready
from harness.targets.run_security import (
    AUTHORIZER_OPTIONS,
    RunSecurity,
    WantedSecurity,
    wanted_security,
)
from harness.targets.run_security import OPTIONS as SECURITY_OPTIONS
from harness.targets.start_again import StartAgain
from harness.targets.starting import start_process
from harness.targets.target import (
    BROKER_CONFIG,
    CREATE_TOPICS,
    KILL_NODE,
    LOG_DIRECTORY,
    LOGS,
    OWN_BROKER,
    PAUSE_NODE,
    POWER_LOSS,
    RESTART_NODE,
    STOP_NODE,
    UPGRADE,
    Target,
)

# -P: a folder named "harness" in the working directory must not stand in for the package.
COMMAND = (sys.executable, "-P", "-m", "harness.cli", "broker", "--port", "0")
LISTENING = re.compile(r"^listening on (?P<host>\S+):(?P<port>\d+)\s*$", re.MULTILINE)
START_TIMEOUT_MS = 120_000
"""A bound for what hangs; a start takes less than a second of processor."""
TAKEN = "the port is taken"
"""Printed by a broker of ours that ends because its port is taken."""
_OF_ZOOKEEPER = "zookeeper."
MOST_NODES = 99
DISK = "disk"
_ONLY_NODE = 1
_OF_FOLDERS = frozenset({RESTART_NODE, LOG_DIRECTORY, POWER_LOSS})
"""The capabilities of a broker with its logs in a folder."""
QUICK = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
"""So that tests need not wait, and groups share a partition; `kafka:` has the same."""
QUICK_RETURN = {"broker.heartbeat.interval.ms": "500", "broker.session.timeout.ms": "2000"}
"""A broker that was killed registers again when its session is over; `kafka:` has the same."""


def without_zookeeper(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings without those of ZooKeeper, which our brokers do not have."""
    return {k: v for k, v in settings.items() if not k.startswith(_OF_ZOOKEEPER)}


class ReferenceBroker(ProcessTarget):
    """The reference broker of this suite.

    ``command`` is what is run; another one (a broker with a defect, say) must take
    ``--setting name=value`` pairs, print ``listening on HOST:PORT`` and serve until killed.

    On disk its logs are in a folder: they outlive its process, can be looked at, and it is started
    again where it was before. Its node is controller and broker in one.
    """

    implementation = "kafka-conformance reference broker"
    is_light = True
    # No RESTART_NODE in memory: what it stores ends with it.
    capabilities = frozenset(
        {CREATE_TOPICS, OWN_BROKER, BROKER_CONFIG, STOP_NODE, KILL_NODE, PAUSE_NODE, LOGS, UPGRADE}
    )

    def __init__(
        self,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        like: str = "",
        on_disk: bool = False,
        begins_like: str | None = None,
        security: WantedSecurity | None = None,
        command: Sequence[str] = COMMAND,
        start_timeout_ms: int = START_TIMEOUT_MS,
    ) -> None:
        """``begins_like``: on disk, an older release that it is ``like`` until it is started again
        (an empty text: none). ``security``: of its listener."""
        if on_disk:
            self.capabilities = self.capabilities | _OF_FOLDERS
        super().__init__(log_dir)
        self.release = version("kafka-conformance")
        self.settings = dict(settings or {})
        words = [f"set.{name}={value}" for name, value in self.settings.items()]
        self.on_disk = on_disk
        self._next_like = like
        self.like = like if begins_like is None else begins_like
        named = ["reference", *([DISK] if on_disk else []), *([f"like={like}"] if like else [])]
        self._security = None if security is None else RunSecurity(security, like)
        self.spec = ",".join([*named, *(security.words if security else []), *words])
        self._older = older_than(like, releases())
        if self._older is None:
            self.capabilities = self.capabilities - {UPGRADE}
        self._command = tuple(command)
        self._start_timeout_ms = start_timeout_ms

    def _called(self) -> str:
        return "the reference broker"

    def stop(self) -> None:
        super().stop()
        self.secured = None
        if self._security is not None:
            self._security.stop()

    def _start_once(self) -> list[Address]:
        started = super()._start_once()
        self.secured = None if self._security is None else self._security.way
        return started

    def _launch(self) -> Address:
        if self._security is not None:
            self._security.start()
        if not self.on_disk:
            return self._launch_with([])
        self._make_data_dir()
        (port,) = free_ports(1)
        return self._launch_at(port)

    def _launch_again(self, address: Address) -> None:
        self.like = self._next_like
        self._launch_at(address.port)

    def _launch_at(self, port: int) -> Address:
        try:
            return self._launch_with(["--port", str(port), "--data-dir", str(self._folder())])
        except TargetStartError as problem:
            if self._child is not None and TAKEN in self._child.log_text():
                raise StartAgain(f"a port was taken by another process: {problem}") from problem
            raise

    def _folder(self) -> Path:
        assert self.data_dir is not None
        return self.node_folders.get(_ONLY_NODE, self.data_dir / "node")

    def log_directories(self, node: int) -> list[Path]:
        self.require(LOG_DIRECTORY)
        self.address_of(node)
        return folders_of(BrokerSettings.of(self.settings, self.like), self._folder())

    def _launch_with(self, options: Sequence[str]) -> Address:
        """These stand behind those of the command: of two with the same name the last counts."""
        self._log_path = reserve_log(self._log_folder(), "reference")
        security = self._security
        secured = {} if security is None else security.reference_settings(CLIENT_LISTENER)
        pairs = [f"{name}={value}" for name, value in {**QUICK, **secured, **self.settings}.items()]
        words = [word for pair in pairs for word in ("--setting", pair)]
        words += ["--like", self.like] if self.like else []
        words += [] if security is None else security.reference_users
        environment = dict(os.environ if security is None else security.client_environment)
        environment["PYTHONUNBUFFERED"] = "1"
        child = self._child = start_process(
            [*self._command, *options, *words],
            self._log_path,
            environment=environment,
            hold_fd=self._hold_fd,
        )
        deadline = Deadline(self._start_timeout_ms)
        address = self._announced(child, LISTENING, "'listening on HOST:PORT'", deadline)
        if security is not None:
            security.open([address])
        wait_until_ready(address, deadline.left_ms(), lambda: self._check_running(child))
        return address

    def _another(self, settings: dict[str, str]) -> ReferenceBroker:
        return self._another_kept(settings) if self.on_disk else self._as(settings)

    def _another_kept(self, settings: dict[str, str]) -> ReferenceBroker:
        return self._as({**QUICK_RETURN, **without_zookeeper(settings)}, on_disk=True)

    def _another_older(self, settings: dict[str, str]) -> ReferenceBroker:
        assert self._older is not None, "it declares the capability"
        own = {**QUICK_RETURN, **without_zookeeper(settings)}
        return self._as(own, on_disk=True, begins_like=self._older)

    def _as(
        self, settings: dict[str, str], *, on_disk: bool = False, begins_like: str | None = None
    ) -> ReferenceBroker:
        return ReferenceBroker(
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
            like=self.like,
            on_disk=on_disk,
            begins_like=begins_like,
            security=None if self._security is None else self._security.wanted,
            command=self._command,
            start_timeout_ms=self._start_timeout_ms,
        )


_OPTIONS = {
    DISK: "one broker that keeps its logs in a folder; several always do",
    "nodes": "a cluster of so many brokers (1 to 99) with a controller, a process each",
    "like": f"behave as this release of Kafka: {', '.join(releases())}",
    **SECURITY_OPTIONS,
    **AUTHORIZER_OPTIONS,
    "process": "own: a process of its own, which it always is",
    "set.NAME": "a setting of the broker, by Kafka's name",
}


def _make(rest: str | None, making: Making) -> Target:
    known = ["like", "nodes", "process", "set.", *SECURITY_OPTIONS, *AUTHORIZER_OPTIONS]
    words, options = split_options(rest or "", known)
    security = wanted_security(options)
    given = [word for word in words if word]
    on_disk = given == [DISK] and "nodes" not in options
    refuse_words([] if on_disk else given or words[1:], "reference")
    choose("process", options.get("process", "own"), ["own"])
    settings = settings_among(options)
    like = options.get("like", "")
    try:
        BrokerSettings.of(settings, like)
    except SettingError as problem:
        raise TargetError(str(problem)) from problem
    if "nodes" not in options:
        return ReferenceBroker(
            log_dir=making.log_dir,
            settings=settings,
            like=like,
            on_disk=on_disk,
            security=security,
        )
    from harness.targets.reference_cluster import ReferenceCluster

    brokers = _count(options["nodes"])
    return ReferenceCluster(
        brokers, log_dir=making.log_dir, settings=settings, like=like, security=security
    )


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= MOST_NODES:
        raise TargetError(f"reference: nodes={text}: 1 to {MOST_NODES} brokers can be started")
    return int(text)


KIND = TargetKind(
    name="reference",
    form="reference[,disk | ,nodes=N][,like=RELEASE][,security=PROTOCOL[,mechanism=MECHANISM]]"
    "[,authorizer=on][,process=own][,set.NAME=VALUE...]",
    example="reference",
    meaning="the broker built into this suite, as a process of its own",
    capabilities=ReferenceBroker.capabilities,
    make=_make,
    options=_OPTIONS,
)

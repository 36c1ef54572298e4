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
from harness.reference_broker.settings import BrokerSettings, SettingError
from harness.targets.errors import TargetError
from harness.targets.forking import start_process
from harness.targets.kind import Making, TargetKind, choose, refuse_words, settings_among
from harness.targets.older import older_than
from harness.targets.options import split_options
from harness.targets.process import Deadline, reserve_log
from harness.targets.process_target import ProcessTarget
from harness.targets.ready import wait_until_ready
from harness.targets.target import (
    BROKER_CONFIG,
    CREATE_TOPICS,
    KILL_NODE,
    LOGS,
    OWN_BROKER,
    PAUSE_NODE,
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
    """

    named = "reference"
    """The beginning of its spec."""
    implementation = "kafka-conformance reference broker"
    is_light = True
    # No RESTART_NODE: what it stores is in its memory, and ends with it.
    capabilities = frozenset(
        {CREATE_TOPICS, OWN_BROKER, BROKER_CONFIG, STOP_NODE, KILL_NODE, PAUSE_NODE, LOGS, UPGRADE}
    )

    def __init__(
        self,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        like: str = "",
        command: Sequence[str] = COMMAND,
        start_timeout_ms: int = START_TIMEOUT_MS,
    ) -> None:
        super().__init__(log_dir)
        self.release = version("kafka-conformance")
        self.settings = dict(settings or {})
        words = [f"set.{name}={value}" for name, value in self.settings.items()]
        self.like = like
        self.spec = ",".join([self.named, *([f"like={like}"] if like else []), *words])
        self._older = older_than(like, releases())
        if self._older is None:
            self.capabilities = self.capabilities - {UPGRADE}
        self._command = tuple(command)
        self._start_timeout_ms = start_timeout_ms

    def _called(self) -> str:
        return "the reference broker"

    def _launch(self) -> Address:
        return self._launch_with([])

    def _launch_with(self, options: Sequence[str]) -> Address:
        """These stand behind those of the command: of two with the same name the last counts."""
        self._log_path = reserve_log(self._log_folder(), "reference")
        pairs = [f"{name}={value}" for name, value in {**QUICK, **self.settings}.items()]
        words = [word for pair in pairs for word in ("--setting", pair)]
        words += ["--like", self.like] if self.like else []
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        child = self._child = start_process(
            [*self._command, *options, *words],
            self._log_path,
            environment=environment,
            hold_fd=self._hold_fd,
        )
        deadline = Deadline(self._start_timeout_ms)
        address = self._announced(child, LISTENING, "'listening on HOST:PORT'", deadline)
        wait_until_ready(address, deadline.left_ms(), lambda: self._check_running(child))
        return address

    def _another(self, settings: dict[str, str]) -> ReferenceBroker:
        return self._as(ReferenceBroker, settings)

    def _another_kept(self, settings: dict[str, str]) -> ReferenceBroker:
        from harness.targets.persistent_reference import PersistentReference

        return self._as(PersistentReference, {**QUICK_RETURN, **without_zookeeper(settings)})

    def _another_older(self, settings: dict[str, str]) -> ReferenceBroker:
        from harness.targets.persistent_reference import UpgradedReference

        assert self._older is not None, "it declares the capability"
        another = self._as(UpgradedReference, {**QUICK_RETURN, **without_zookeeper(settings)})
        another.like = self._older
        return another

    def _as(self, kind: type[ReferenceBroker], settings: dict[str, str]) -> ReferenceBroker:
        return kind(
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
            like=self.like,
            command=self._command,
            start_timeout_ms=self._start_timeout_ms,
        )


DISK = "disk"
_OPTIONS = {
    DISK: "one broker that keeps its logs in a folder; several always do",
    "nodes": "a cluster of so many brokers (1 to 99) with a controller, a process each",
    "like": f"behave as this release of Kafka: {', '.join(releases())}",
    "process": "own: a process of its own, which it always is",
    "set.NAME": "a setting of the broker, by Kafka's name",
}


def _make(rest: str | None, making: Making) -> Target:
    words, options = split_options(rest or "", ["like", "nodes", "process", "set."])
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
    if on_disk:
        from harness.targets.persistent_reference import PersistentReference

        return PersistentReference(log_dir=making.log_dir, settings=settings, like=like)
    if "nodes" not in options:
        return ReferenceBroker(log_dir=making.log_dir, settings=settings, like=like)
    from harness.targets.reference_cluster import ReferenceCluster

    brokers = _count(options["nodes"])
    return ReferenceCluster(brokers, log_dir=making.log_dir, settings=settings, like=like)


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= MOST_NODES:
        raise TargetError(f"reference: nodes={text}: 1 to {MOST_NODES} brokers can be started")
    return int(text)


KIND = TargetKind(
    name="reference",
    form="reference[,disk | ,nodes=N][,like=RELEASE][,process=own][,set.NAME=VALUE...]",
    example="reference",
    meaning="the broker built into this suite, as a process of its own",
    capabilities=ReferenceBroker.capabilities,
    make=_make,
    options=_OPTIONS,
)

"""Our own broker, as a process like any other: it has no privileges."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from harness.reference_broker.likeness import releases
from harness.reference_broker.settings import BrokerSettings, SettingError
from harness.targets.errors import TargetError
from harness.targets.kind import Making, TargetKind, choose, refuse_words, settings_among
from harness.targets.options import split_options
from harness.targets.process import ChildProcess, Deadline, reserve_log
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
    Address,
    Target,
)

# -P: a folder named "harness" in the working directory must not stand in for the package.
COMMAND = (sys.executable, "-P", "-m", "harness.cli", "broker", "--port", "0")
LISTENING = re.compile(r"^listening on (?P<host>\S+):(?P<port>\d+)\s*$", re.MULTILINE)
START_TIMEOUT_MS = 30_000
MOST_NODES = 99
QUICK = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
"""So that tests need not wait, and groups share a partition; `kafka:` has the same."""


class ReferenceBroker(ProcessTarget):
    """The reference broker of this suite.

    ``command`` is what is run; another one (a broker with a defect, say) must take
    ``--setting name=value`` pairs, print ``listening on HOST:PORT`` and serve until killed.
    """

    implementation = "kafka-conformance reference broker"
    # No RESTART_NODE: what it stores is in its memory, and ends with it.
    capabilities = frozenset(
        {CREATE_TOPICS, OWN_BROKER, BROKER_CONFIG, STOP_NODE, KILL_NODE, PAUSE_NODE, LOGS}
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
        self.spec = ",".join(["reference", *([f"like={like}"] if like else []), *words])
        self._command = tuple(command)
        self._start_timeout_ms = start_timeout_ms

    def _called(self) -> str:
        return "the reference broker"

    def _launch(self) -> Address:
        self._log_path = reserve_log(self._log_folder(), "reference")
        pairs = [f"{name}={value}" for name, value in {**QUICK, **self.settings}.items()]
        words = [word for pair in pairs for word in ("--setting", pair)]
        words += ["--like", self.like] if self.like else []
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        child = ChildProcess([*self._command, *words], self._log_path, environment=environment)
        self._child = child
        deadline = Deadline(self._start_timeout_ms)
        address = self._announced(child, LISTENING, "'listening on HOST:PORT'", deadline)
        wait_until_ready(address, deadline.left_ms(), lambda: self._check_running(child))
        return address

    def _another(self, settings: dict[str, str]) -> ReferenceBroker:
        return ReferenceBroker(
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
            like=self.like,
            command=self._command,
            start_timeout_ms=self._start_timeout_ms,
        )


_OPTIONS = {
    "nodes": "a cluster of so many brokers (1 to 99) with a controller, a process each",
    "like": f"behave as this release of Kafka: {', '.join(releases())}",
    "process": "own: a process of its own, which it always is",
    "set.NAME": "a setting of the broker, by Kafka's name",
}


def _make(rest: str | None, making: Making) -> Target:
    words, options = split_options(rest or "", ["like", "nodes", "process", "set."])
    refuse_words([word for word in words if word] or words[1:], "reference")
    choose("process", options.get("process", "own"), ["own"])
    settings = settings_among(options)
    like = options.get("like", "")
    try:
        BrokerSettings.of(settings, like)
    except SettingError as problem:
        raise TargetError(str(problem)) from problem
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
    form="reference[,nodes=N][,like=RELEASE][,process=own][,set.NAME=VALUE...]",
    example="reference",
    meaning="the broker built into this suite, as a process of its own",
    capabilities=ReferenceBroker.capabilities,
    make=_make,
    options=_OPTIONS,
)

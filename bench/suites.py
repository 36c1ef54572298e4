"""The duration of a whole run on the built-in broker and on Apache Kafka.

Each is one ``kafka-conformance run`` with its defaults, from its start to its end. The times depend
on the machine. The report therefore shows the goals, which are for two idle cores, next to the
times and the load of the machine; the ratio depends on the suites.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GROUP = "suites"
OURS, PEER = "reference", "kafka:4.4.0"
REQUIREMENT = "PROD-011"


@dataclass(frozen=True, slots=True)
class BenchJudgement:
    """One command, and how long it may take on two idle cores."""

    name: str
    options: tuple[str, ...]
    goal_s: float


@dataclass(frozen=True, slots=True)
class Taken:
    """Wall and processor time of a command; ``cpu_s`` includes the processes that it awaited."""

    wall_s: float
    cpu_s: float


JUDGEMENTS = (
    BenchJudgement(f"all suites on {OURS}", ("--target", OURS), 120),
    BenchJudgement(f"suites/protocol on {OURS}", ("--target", OURS, "--suite", "protocol"), 60),
    BenchJudgement(
        f"one requirement on {OURS}", ("--target", OURS, "--requirement", REQUIREMENT), 3
    ),
    BenchJudgement(f"all suites on {PEER}", ("--target", PEER), 300),
)
_OURS, _PEER = JUDGEMENTS[0], JUDGEMENTS[-1]


def suites_lines() -> Iterator[str]:
    """A line for each judgement, and the ratio. Raises RuntimeError when one is not green."""
    taken = {}
    for judgement in JUDGEMENTS:
        taken[judgement] = took = _judge(judgement)
        load, _, _ = os.getloadavg()
        yield (
            f"{took.wall_s:8.1f}  s ({judgement.goal_s:.0f} on two idle cores), "
            f"{took.cpu_s:.1f} s of CPU: {judgement.name}; load {load:.1f}"
        )
    yield f"{taken[_OURS].wall_s / taken[_PEER].wall_s:8.2f}  {_OURS.name} / {_PEER.name}"


def _judge(judgement: BenchJudgement) -> Taken:
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "said").open("w+") as said:
        command = [sys.executable, "-m", "harness.cli", "run", "--out", folder]
        began_s = time.monotonic()
        child = subprocess.Popen([*command, *judgement.options], stdout=said, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        took_s = time.monotonic() - began_s
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise RuntimeError(f"{judgement.name} is not green:\n{said.read()}")
    return Taken(took_s, used.ru_utime + used.ru_stime)

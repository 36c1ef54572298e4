"""Every check of this repository, as a table of parts: ``python -m tests.ci [PART ...]``.

CI runs all parts but those on demand; CONTRIBUTING.md says how much of the time each may take.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.defects.seen_on import (
    CLUSTER_SAMPLE,
    CLUSTER_SEEN_ON,
    ENDED,
    ENDED_JOINED,
    ENDED_JOINED_SEEN_ON,
    ENDED_SEEN_ON,
    JOINED_SEEN_ON,
    QUORUM,
    QUORUM_SEEN_ON,
)

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
OUT = "results/ci"
LOGS = ROOT / "results" / "ci-logs"
"""What each part printed, a file a part."""
TOLD_AGAIN_LINES = 40
OTHERS = "others"
NOIDA_DB, KFAKE = "noida_db", "kfake"
OF_OTHERS = {OTHERS: "librdkafka-mock", NOIDA_DB: "noida-db", KFAKE: "kfake"}
"""By part: the brokers of other people, as their files in `docker/` are named."""
ON_DEMAND = {NOIDA_DB, KFAKE}
"""Run where they are named, and not by CI, whose time they would take."""
OTHERS_AT_ONCE = "8"
"""Processes that judge one of them: where most of it fails, they wait more than they work."""
SAMPLE = ("kafka:0.8.2.2", "kafka:0.10.2.2", "reference,like=0.10.2.2")
"""Of the releases of docs/archaeology.md: a layout and a format that 4.4.0 has not."""
SAMPLED_SUITES = ("protocol", "replication")
"""What the sample is asked: durability takes as long again."""
WHOLE_SAMPLE = ("kafka:2.8.2", "reference,like=2.8.2")
"""The newest with a ZooKeeper alone, asked everything."""
LIKE = ("0.10.2.2", "2.8.2")
"""Of both, those that the built-in broker can be like."""
BUILT_IN_SAMPLE = "5"
"""Of the wrong functions of the built-in broker: each requirement has a defect on the wire too."""
ALONE_SAMPLE = "50"
"""Of the defects: each is killed by its own check, and of so many it is seen that no other check
of the area notices them."""
FAILURES_ARE_KNOWN = {"releases", *OF_OTHERS}
"""Their runs exit 1; the gate says whether that is as it should be."""
NEEDED_PROGRAMS = {KFAKE: "go", "clients": "go"}
"""What a part cannot do without: it is not run where that is missing, which CI does not accept."""
NOT_RUN = "not run"
LANES = 2
"""So many parts run at a time: most wait as much as they work, but with a third one Kafka 0.10 did
not answer in time."""
IN_ORDER = (
    *("lint", "types", "tests", "suites", "kafka", "defects", "releases", "containers"),
    *("cluster_defects", "cluster", OTHERS, "recovery", "clients", "fuzz", "groups"),
    *("replication", "differential", NOIDA_DB, KFAKE),
)
"""How they begin: what others need comes first, and beside what works much stands what waits much.
The report comes behind all."""
AFTER = {"kafka": "suites", "releases": "kafka"}
"""Whose results a part reads beside its own."""
CONTAINERS = "tests/targets/containers"  # in one process: each has a Docker daemon of its own
CLIENTS = "tests/clients"
PYTEST = ["pytest", "-p", "no:cacheprovider"]
TWO = ["-n", "2", "--dist", "worksteal"]
"""Processes; tests that stand together share what takes long to start."""


def with_each(option: str, values: tuple[str, ...]) -> list[str]:
    """``--target A --target B``."""
    return [word for value in values for word in (option, value)]


def judge_other(part: str) -> list[list[str]]:
    """A ready file of ``docker/``, and whether only what is known fails."""
    name = OF_OTHERS[part]
    out, file = f"{OUT}/{name}", f"docker/{name}"
    run = ["kafka-conformance", "run", "--target", f"command:{file}.toml"]
    gate = ["kafka-conformance", "gate", out, "--profile", f"{file}.profile.toml"]
    return [[*run, "--jobs", OTHERS_AT_ONCE, "--out", out], gate]


PARTS: dict[str, list[list[str]]] = {
    "lint": [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["python", "-m", "harness.codec.stubs", "--check"],
        ["lint-imports"],
    ],
    "types": [["mypy", "harness", "reports", "suites", "tests", "bench"]],
    "tests": [
        [*PYTEST, "tests", *TWO, f"--ignore={CONTAINERS}", f"--ignore={CLIENTS}"],
    ],
    "containers": [[*PYTEST, CONTAINERS]],
    "clients": [["python", "-P", "-m", "tests.clients"], [*PYTEST, CLIENTS, *TWO]],
    "fuzz": [["python", "-m", "tests.fuzz", "--minutes", "1"]],
    "suites": [
        [*PYTEST, "suites", "--target", "reference", *TWO, "--random-order", "--grease",
         "--out", OUT],
    ],
    "kafka": [
        ["kafka-conformance", "run", "--target", "kafka:4.4.0", "--target", "by-document",
         "--versions", "ends", "--jobs", "2", "--out", OUT],
        ["kafka-conformance", "gate", OUT],
    ],
    "differential": [
        ["kafka-conformance", "diff", "--target", "reference", "--target", "kafka:4.4.0",
         "--seed", "1", "--exchanges", "600", "--out", f"{OUT}/differential"],
    ],
    "releases": [
        ["kafka-conformance", "run", *with_each("--target", SAMPLE),
         *with_each("--suite", SAMPLED_SUITES),
         "--jobs", "2", "--versions", "ends", "--out", f"{OUT}/releases"],
        ["kafka-conformance", "run", *with_each("--target", WHOLE_SAMPLE),
         "--jobs", "2", "--versions", "ends", "--out", f"{OUT}/releases"],
        ["kafka-conformance", "gate", f"{OUT}/releases",
         "--profile", "suites/apache-kafka.profile.toml"],
        ["kafka-conformance", "agree", f"{OUT}/releases", "--no-run",
         *with_each("--release", LIKE)],
        ["kafka-conformance", "archaeology", f"{OUT}/releases", OUT,
         "--out", f"{OUT}/archaeology"],
    ],
    OTHERS: judge_other(OTHERS),
    NOIDA_DB: judge_other(NOIDA_DB),
    KFAKE: judge_other(KFAKE),
    "groups": [
        ["python", "-m", "tests.group_model", "--target", "reference", "--target", "kafka:4.4.0",
         "--examples", "10", "--steps", "12"],
    ],
    "recovery": [
        ["python", "-m", "tests.recovery", "--damages", "500", "--of", "2500", "--seed", "1",
         "--left", "kafka:4.4.0", "--right", "reference,disk", "--out", f"{OUT}/recovery"],
    ],
    "replication": [["python", "-m", "tests.replication_model", "--steps", "100000"]],
    "cluster": [
        [*PYTEST, "suites/replication", "suites/durability/private", "--target",
         "reference,nodes=3", "-n", "2", "--out", f"{OUT}/cluster"],
        [*PYTEST, "suites/protocol", "--target", "reference,nodes=3", "-n", "2",
         "--versions", "ends", "--out", f"{OUT}/cluster-protocol"],
        ["kafka-conformance", "timeline", "reference,nodes=1", "kafka:4.4.0", "kafka:0.8.2.2"],
        ["kafka-conformance", "gate", f"{OUT}/cluster"],
        ["kafka-conformance", "gate", f"{OUT}/cluster-protocol"],
    ],
    "defects": [
        ["python", "-m", "tests.defects", "--target", "reference", "--on-the-wire",
         "--alone", ALONE_SAMPLE, "--out", f"{OUT}/defects", "--jobs", "4"],
        ["python", "-m", "tests.defects", "--target", "reference", "--built-in",
         "--sample", BUILT_IN_SAMPLE, "--out", f"{OUT}/built-in", "--jobs", "4"],
        ["python", "-m", "tests.defects", "--target", ENDED_SEEN_ON,
         *with_each("--requirement", tuple(ENDED)), "--out", f"{OUT}/defects"],
        ["python", "-m", "tests.defects", "--target", "kafka:4.4.0", "--out", f"{OUT}/defects",
         "--sample", "16"],
    ],
    "cluster_defects": [
        ["python", "-m", "tests.defects", "--target", JOINED_SEEN_ON, "--joined", "--jobs", "4",
         "--alone", ALONE_SAMPLE, "--out", f"{OUT}/defects"],
        ["python", "-m", "tests.defects", "--target", ENDED_JOINED_SEEN_ON,
         *with_each("--requirement", tuple(ENDED_JOINED)), "--out", f"{OUT}/defects"],
        ["python", "-m", "tests.defects", "--target", CLUSTER_SEEN_ON,
         *with_each("--requirement", CLUSTER_SAMPLE), "--jobs", "1", "--out", f"{OUT}/defects"],
        ["python", "-m", "tests.defects", "--target", QUORUM_SEEN_ON,
         *with_each("--requirement", tuple(QUORUM)), "--jobs", "1", "--out", f"{OUT}/defects"],
    ],
    "report": [
        ["kafka-conformance", "report", OUT, f"{OUT}/releases",
         *[f"{OUT}/{name}" for name in OF_OTHERS.values()], "--out", f"{OUT}/report"],
    ],
}  # fmt: skip


@dataclass(slots=True)
class Row:
    """One part: how it ended, how long it took, and how long a processor had worked for it."""

    name: str
    result: str = NOT_RUN
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def timed(name: str, show: bool = True) -> Row:
    """Run one part."""
    row, began = Row(name), time.monotonic()
    with (LOGS / f"{name}.log").open("wb") as log:
        run_part(row, log, show)
    row.seconds = time.monotonic() - began
    return row


def in_one_piece(name: str, needed: Future[Row] | None) -> Row:
    """Run one part beside others; what it prints comes when it ends."""
    if needed is not None:
        needed.result()
    print(f"== {name} began", flush=True)
    row = timed(name, show=False)
    printed = (LOGS / f"{name}.log").read_text("utf-8", "replace")
    print(f"{printed}\n== {name} {row.result}", flush=True)
    return row


def run_all(names: Sequence[str]) -> list[Row]:
    """Some at a time, each when what it needs is over."""
    if len(names) == 1:
        return [timed(names[0])]
    begun: dict[str, Future[Row]] = {}
    with ThreadPoolExecutor(LANES) as lanes:
        for name in sorted({*names} - {"report"}, key=IN_ORDER.index):
            begun[name] = lanes.submit(in_one_piece, name, begun.get(AFTER.get(name, "")))
    rows = [future.result() for future in begun.values()]
    return [*rows, *[timed(name) for name in names if name == "report"]]


def run_part(row: Row, log: IO[bytes], show: bool) -> None:
    """Run the commands of one part, up to the first that fails."""
    needed = NEEDED_PROGRAMS.get(row.name)
    if needed and shutil.which(needed) is None and "CI" not in os.environ:
        told = f"\n== {row.name}: not run: there is no program {needed!r} on PATH\n"
        tell(told.encode(), log, show)
        return
    row.result = "FAILED"
    for command in PARTS[row.name]:
        tell(f"\n== {row.name}: {' '.join(command)}\n".encode(), log, show)
        words = [str(BIN / command[0]), *command[1:]]
        if row.name == "report":
            words = [word for word in words if not is_missing(word)]
        code, cpu_seconds = run_command(words, log, show)
        row.cpu_seconds += cpu_seconds
        if code and not (code == 1 and row.name in FAILURES_ARE_KNOWN and "run" in command):
            return
    row.result = "passed"


def run_command(words: list[str], log: IO[bytes], show: bool) -> tuple[int, float]:
    """The exit code and the seconds of processor; what the command prints is told as it comes."""
    # Compiled modules make the many pytest processes of a part start several times quicker.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        while printed := os.read(process.stdout.fileno(), 1 << 16):
            tell(printed, log, show)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def tell(printed: bytes, log: IO[bytes], show: bool) -> None:
    """Into the part's log and, unless it comes in one piece later, to who looks on."""
    log.write(printed)
    log.flush()
    if show:
        sys.stdout.buffer.write(printed)
        sys.stdout.flush()


def tell_again(rows: Sequence[Row]) -> None:
    """How each failed part ended: the end of a long log may be all that is kept of it."""
    for row in rows:
        if row.result == "FAILED":
            lines = (LOGS / f"{row.name}.log").read_text("utf-8", "replace").splitlines()
            named = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
            print(f"\n== {row.name} failed", *named, "...", *lines[-TOLD_AGAIN_LINES:], sep="\n")


def is_missing(word: str) -> bool:
    """A folder of results that a part which was not run would have left."""
    return word in {f"{OUT}/{name}" for name in OF_OTHERS.values()} and not (ROOT / word).exists()


def main(names: list[str]) -> int:
    """Run the named parts, or all; 0 when none failed, 2 for a name that is no part."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no part {unknown[0]!r}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for folder in (ROOT / OUT, LOGS):
        shutil.rmtree(folder, ignore_errors=True)
    LOGS.mkdir(parents=True)
    rows = run_all(names or [name for name in PARTS if name not in ON_DEMAND])
    tell_again(rows)
    print("\n| part | result | minutes | of processor |\n|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.name} | {row.result} | {row.seconds / 60:.1f} | {row.cpu_seconds / 60:.1f} |"
        )
    counts = Counter(row.result for row in rows)
    not_run = f", {counts[NOT_RUN]} not run" if counts[NOT_RUN] else ""
    print(f"\nparts: {counts['passed']} passed, {counts['FAILED']} failed{not_run}")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

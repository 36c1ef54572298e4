"""Every check of this repository, as a table of parts: ``python -m tests.ci [PART ...]``.

CI runs all parts; CONTRIBUTING.md says how much of the time each may take.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
OUT = "results/ci"
OTHERS = ("librdkafka-mock", "noida-db")
KFAKE = "kfake"
SAMPLE = ("kafka:0.8.2.2", "kafka:0.10.2.2", "kafka:2.8.2")
"""Of the releases of docs/archaeology.md: a layout, a format and a mode that 4.4.0 has not."""
FAILURES_ARE_KNOWN = {"releases", "others", KFAKE}
"""Their runs exit 1; the gate says whether that is as it should be."""
NEEDED_PROGRAMS = {KFAKE: "go"}
"""What a part cannot do without: it is not run where that is missing, which CI does not accept."""
NOT_RUN = "not run"
CONTAINERS = "tests/targets/containers"  # in one process: each has a Docker daemon of its own
PYTEST = ["pytest", "-p", "no:cacheprovider"]


def with_each(option: str, values: tuple[str, ...]) -> list[str]:
    """``--target A --target B``."""
    return [word for value in values for word in (option, value)]


def judge_other(name: str) -> list[list[str]]:
    """A ready file of ``docker/``, and whether only what is known fails."""
    out, file = f"{OUT}/{name}", f"docker/{name}"
    run = ["kafka-conformance", "run", "--target", f"command:{file}.toml"]
    gate = ["kafka-conformance", "gate", out, "--profile", f"{file}.profile.toml"]
    return [[*run, "--jobs", "8", "--out", out], gate]


PARTS: dict[str, list[list[str]]] = {
    "lint": [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["python", "-m", "harness.codec.stubs", "--check"],
        ["lint-imports"],
    ],
    "types": [["mypy", "harness", "reports", "suites", "tests", "bench"]],
    "tests": [[*PYTEST, "tests", "-n", "2", f"--ignore={CONTAINERS}"]],
    "containers": [[*PYTEST, CONTAINERS]],
    "fuzz": [["python", "-m", "tests.fuzz", "--minutes", "1"]],
    "suites": [
        [*PYTEST, "suites", "--target", "reference", "-n", "2", "--random-order", "--out", OUT],
    ],
    "kafka": [
        ["kafka-conformance", "run", "--target", "reference", "--target", "kafka:4.4.0",
         "--jobs", "2", "--out", OUT],
        ["kafka-conformance", "gate", OUT],
    ],
    "releases": [
        ["kafka-conformance", "run", *with_each("--target", SAMPLE), "--jobs", "2",
         "--versions", "ends", "--out", f"{OUT}/releases"],
        ["kafka-conformance", "gate", f"{OUT}/releases",
         "--profile", "suites/apache-kafka.profile.toml"],
        ["kafka-conformance", "archaeology", f"{OUT}/releases", OUT,
         "--out", f"{OUT}/archaeology"],
    ],
    "others": [command for name in OTHERS for command in judge_other(name)],
    KFAKE: judge_other(KFAKE),
    "defects": [
        ["python", "-m", "tests.defects", "--target", "reference", "--out", f"{OUT}/defects"],
        ["python", "-m", "tests.defects", "--target", "kafka:4.4.0", "--out", f"{OUT}/defects",
         "--sample", "16"],
    ],
    "report": [
        ["kafka-conformance", "report", OUT, f"{OUT}/releases",
         *[f"{OUT}/{name}" for name in (*OTHERS, KFAKE)], "--out", f"{OUT}/report"],
    ],
}  # fmt: skip


def run_part(name: str) -> str:
    """Run the commands of one part, up to the first that fails; passed, FAILED or not run."""
    needed = NEEDED_PROGRAMS.get(name)
    if needed and shutil.which(needed) is None and "CI" not in os.environ:
        print(f"\n== {name}: not run: there is no program {needed!r} on PATH", flush=True)
        return NOT_RUN
    # Compiled modules make the many pytest processes below start several times quicker.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for command in PARTS[name]:
        print(f"\n== {name}: {' '.join(command)}", flush=True)
        words = [str(BIN / command[0]), *command[1:]]
        if name == "report":
            words = [word for word in words if not is_missing(word)]
        code = subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode
        if code and not (code == 1 and name in FAILURES_ARE_KNOWN and "run" in command):
            return "FAILED"
    return "passed"


def is_missing(word: str) -> bool:
    """A folder of results that a part which was not run would have left."""
    return word in {f"{OUT}/{name}" for name in NEEDED_PROGRAMS} and not (ROOT / word).exists()


def main(names: list[str]) -> int:
    """Run the named parts, or all; 0 when none failed, 2 for a name that is no part."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no part {unknown[0]!r}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    shutil.rmtree(ROOT / OUT, ignore_errors=True)
    rows = []
    for name in names or PARTS:
        began = time.monotonic()
        result = run_part(name)
        rows.append((name, result, time.monotonic() - began))
    print("\n| part | result | minutes |\n|---|---|---|")
    for name, result, seconds in rows:
        print(f"| {name} | {result} | {seconds / 60:.1f} |")
    counts = Counter(result for _, result, _ in rows)
    not_run = f", {counts[NOT_RUN]} not run" if counts[NOT_RUN] else ""
    print(f"\nparts: {counts['passed']} passed, {counts['FAILED']} failed{not_run}")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Every check of this repository, as a table of parts: ``python -m tests.ci [PART ...]``.

CI runs all parts; CONTRIBUTING.md says how much of the time each may take.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
OUT = "results/ci"
MOCK = "docker/librdkafka-mock"
FAILURES_ARE_KNOWN = {"mock"}  # its run exits 1; the gate says whether that is as it should be
PYTEST = ["pytest", "-p", "no:cacheprovider"]

PARTS: dict[str, list[list[str]]] = {
    "lint": [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["python", "-m", "harness.codec.stubs", "--check"],
        ["lint-imports"],
    ],
    "types": [["mypy", "harness", "reports", "suites", "tests", "bench"]],
    "tests": [[*PYTEST, "tests", "-n", "2"]],
    "fuzz": [["python", "-m", "tests.fuzz", "--minutes", "1"]],
    "suites": [
        [*PYTEST, "suites", "--target", "reference", "-n", "2", "--random-order", "--out", OUT],
    ],
    "kafka": [
        ["kafka-conformance", "run", "--target", "reference", "--target", "kafka:4.4.0",
         "--jobs", "2", "--out", OUT],
        ["kafka-conformance", "gate", OUT],
    ],
    "mock": [
        ["kafka-conformance", "run", "--target", f"command:{MOCK}.toml", "--jobs", "8",
         "--out", f"{OUT}/mock"],
        ["kafka-conformance", "gate", f"{OUT}/mock", "--profile", f"{MOCK}.profile.toml"],
    ],
    "defects": [
        ["python", "-m", "tests.defects", "--target", "reference", "--out", f"{OUT}/defects"],
        ["python", "-m", "tests.defects", "--target", "kafka:4.4.0", "--out", f"{OUT}/defects",
         "--sample", "16"],
    ],
    "report": [
        ["kafka-conformance", "report", OUT, f"{OUT}/mock", "--out", f"{OUT}/report"],
    ],
}  # fmt: skip


def run_part(name: str) -> bool:
    """Run the commands of one part; the first that fails ends it."""
    # Compiled modules make the many pytest processes below start several times quicker.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for command in PARTS[name]:
        print(f"\n== {name}: {' '.join(command)}", flush=True)
        words = [str(BIN / command[0]), *command[1:]]
        code = subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode
        if code and not (code == 1 and name in FAILURES_ARE_KNOWN and "run" in command):
            return False
    return True


def main(names: list[str]) -> int:
    """Run the named parts, or all; 0 when everything passed, 2 for a name that is no part."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no part {unknown[0]!r}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    shutil.rmtree(ROOT / OUT, ignore_errors=True)
    rows = []
    for name in names or PARTS:
        began = time.monotonic()
        passed = run_part(name)
        rows.append((name, passed, time.monotonic() - began))
    print("\n| part | result | minutes |\n|---|---|---|")
    for name, passed, seconds in rows:
        print(f"| {name} | {'passed' if passed else 'FAILED'} | {seconds / 60:.1f} |")
    failed = sum(not passed for _, passed, _ in rows)
    print(f"\nparts: {len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

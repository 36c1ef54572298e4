"""The suites on the built-in broker against the same suites on Apache Kafka, in one run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

GROUP = "suites"
OURS, PEER = "reference", "kafka:4.4.0"
NAME = f"the suites on {OURS} / on {PEER}, from the first case to the last, two test processes"


def suites_ratio() -> float:
    """Raises RuntimeError when one of the two runs did not come to its end."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "harness.cli", "run", "--jobs", "2", "--out", folder]
        targets = ["--target", OURS, "--target", PEER]
        done = subprocess.run([*command, *targets], capture_output=True, text=True, check=False)
        took_s = dict(map(_took_s, Path(folder).glob("runs/*/journal.jsonl")))
    if done.returncode or set(took_s) != {OURS, PEER}:
        raise RuntimeError(f"the suites did not pass:\n{done.stdout}{done.stderr}")
    return took_s[OURS] / took_s[PEER]


def _took_s(journal: Path) -> tuple[str, float]:
    """Target and time of one run; the target's start is not in it."""
    lines = journal.read_text("utf-8").splitlines()
    header, footer = json.loads(lines[0]), json.loads(lines[-1])
    began, ended = (
        datetime.fromisoformat(at) for at in (header["started_at"], footer["finished_at"])
    )
    return header["target"], (ended - began).total_seconds()

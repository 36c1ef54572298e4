"""``python -m checks.same_verdicts``: judge a target some times; the verdicts must be the same.

Known failures are those of ``suites/apache-kafka.profile.toml``, which the gate of each run judges.
Exit 0: the same verdicts each time; 1: some differ, or a run failed otherwise; 2: usage.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.conformance.summary import summarize
from harness.conformance.verdict import Verdict

PROFILE = "suites/apache-kafka.profile.toml"
BIN = Path(sys.executable).parent / "kafka-conformance"
Verdicts = Mapping[str, Verdict]


@click.command()
@click.option("--target", required=True, help="What is judged.")
@click.option("--jobs", required=True, help="Test processes at the same time.")
@click.option("--rounds", default=5, show_default=True, help="How often.")
@click.option("--versions", type=click.Choice(["all", "ends"]), default="ends", show_default=True)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False))
def main(target: str, jobs: str, rounds: int, versions: str, out: Path) -> None:
    """Judge TARGET some times and compare the verdicts."""
    out.mkdir(parents=True, exist_ok=True)
    found, bad = [], False
    for number in range(1, rounds + 1):
        folder = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=out))
        words = ["--target", target, "--jobs", jobs, "--versions", versions, "--out", str(folder)]
        subprocess.run([BIN, "run", *words], check=False)
        gate = subprocess.run([BIN, "gate", str(folder), "--profile", PROFILE], check=False)
        bad |= gate.returncode != 0
        found.append(verdicts_in(folder))
    different = differences(found)
    for line in different:
        click.echo(line)
    click.echo(f"{len(different)} of {len(found[0])} requirements differ in {rounds} rounds")
    sys.exit(1 if different or bad else 0)


def verdicts_in(folder: Path) -> Verdicts:
    """By requirement, of the one run in a folder."""
    (journal,) = folder.glob(f"runs/*/{JOURNAL_NAME}")
    summary = summarize(read_journal(journal))
    return {name: one.verdict for name, one in summary.requirements.items()}


def differences(rounds: Sequence[Verdicts]) -> list[str]:
    """A line for each requirement that has not the same verdict in all rounds."""
    names = sorted({name for each in rounds for name in each})
    lines = []
    for name in names:
        seen = [each.get(name) for each in rounds]
        if len(set(seen)) > 1:
            lines.append(f"{name}: {', '.join(str(one) for one in seen)}")
    return lines


if __name__ == "__main__":
    main()

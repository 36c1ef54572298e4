"""``kafka-conformance lab clients-under-faults``: clients through seeded schedules of faults.

Exit 0: every run is valid, or shows a known finding of its client; 1: an anomaly was found, or a
run could not be judged; 2: usage.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import click
from rich.console import Console

from harness.histories.history import to_lines
from harness.histories.judgement import HistoryVerdict
from harness.targets.errors import TargetError
from harness.targets.spec import parse_target
from labs.clients_under_faults.findings import FINDINGS
from labs.clients_under_faults.one_client import DRIVERS
from labs.clients_under_faults.run import FaultRun, Setting, run_client
from labs.clients_under_faults.schedule import FaultSchedule, schedule
from labs.clients_under_faults.table import FaultTable


def seeds_of(text: str) -> list[int]:
    """``7``, ``0..199`` or several of these with commas between. Raises BadParameter."""
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        try:
            numbers = range(int(first), int(last if dots else first) + 1)
        except ValueError:
            raise click.BadParameter(f"{part!r} is no seed; write 7, 0..199 or 3,5,8..9") from None
        if not numbers:
            raise click.BadParameter(f"{part!r} names no seed: the first is greater than the last")
        found += numbers
    return list(dict.fromkeys(found))


@click.command()
@click.option("--target", default="reference", show_default=True, help="The broker behind it.")
@click.option("--client", "clients", multiple=True, type=click.Choice(list(DRIVERS)),
              default=tuple(DRIVERS), show_default=True, help="May be repeated.")  # fmt: skip
@click.option("--seeds", "seeds_text", default="0..2", show_default=True, metavar="N..M")
@click.option("--jobs", default=6, show_default=True, help="Runs at the same time; most wait.")
@click.option("--finding", type=click.Choice(list(FINDINGS)), default=None,
              help="Instead of seeds: the schedule that shows it, with its client.")  # fmt: skip
@click.option("--limit", "limit_s", default=30.0, show_default=True,
              help="Seconds that a client may do nothing once all is healed.")  # fmt: skip
@click.option("--no-idempotence", is_flag=True, help="To see what the checker is there for.")
@click.option("--show", is_flag=True, help="Only print the schedules of the seeds.")
@click.option("--out", default="results/clients", type=click.Path(path_type=Path, file_okay=False),
              show_default=True)  # fmt: skip
def main(
    target: str,
    clients: tuple[str, ...],
    seeds_text: str,
    jobs: int,
    finding: str | None,
    limit_s: float,
    no_idempotence: bool,
    show: bool,
    out: Path,
) -> None:
    """Send and read records through faults, and judge the outcome of every record."""
    wanted = _wanted(clients, seeds_text, finding)
    if show:
        click.echo("\n".join(dict.fromkeys(str(each) for _, each in wanted)))
        return
    out.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    began_s = time.monotonic()
    runs = []
    try:
        with tempfile.TemporaryDirectory(prefix="clients-") as folder:
            place = Path(folder)
            with parse_target(target, log_dir=place / "logs") as started:
                setting = Setting(started, place, not no_idempotence, limit_s)
                for run in _each(wanted, setting, jobs):
                    runs.append(run)
                    _tell(run, console, out)
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    table = FaultTable(target, runs, not no_idempotence, time.monotonic() - began_s)
    name = _name(target, finding, "not-idempotent" if no_idempotence else None)
    (out / f"{name}.md").write_text(table.markdown(), "utf-8")
    (out / f"{name}.json").write_text(json.dumps(table.to_json(), indent=1) + "\n", "utf-8")
    click.echo(table.markdown())
    sys.exit(0 if table.good else 1)


def _each(
    wanted: list[tuple[str, FaultSchedule]], setting: Setting, jobs: int
) -> Iterator[FaultRun]:
    """Yield the runs as they end. A caller that stops early, or is interrupted, waits only for the
    runs under way.
    """
    pool = ThreadPoolExecutor(jobs)
    try:
        under_way = [pool.submit(run_client, *pair, setting) for pair in wanted]
        for done in as_completed(under_way):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _wanted(
    clients: tuple[str, ...], seeds_text: str, finding: str | None
) -> list[tuple[str, FaultSchedule]]:
    if finding is not None:
        return [(FINDINGS[finding].client, FINDINGS[finding].schedule)]
    schedules = [schedule(seed) for seed in seeds_of(seeds_text)]
    return [(client, each) for each in schedules for client in clients]


def _name(target: str, *more: str | None) -> str:
    return "-".join([target.replace(":", "-"), *(word for word in more if word)])


def _tell(run: FaultRun, console: Console, out: Path) -> None:
    """Print a line; for a run that is not valid, write the whole history beside the table."""
    judgement = run.judgement
    found = "; ".join(map(str, judgement.findings)) or judgement.why
    line = f"{run.client} seed {run.schedule.seed}: {judgement.verdict} {found[:300]}"
    console.print(line, highlight=False, markup=False)
    if judgement.verdict is not HistoryVerdict.VALID:
        kept = out / f"{run.client}-{run.schedule.seed}"
        kept.with_suffix(".history.jsonl").write_text(to_lines(run.history), "utf-8")
        kept.with_suffix(".txt").write_text(f"{run.schedule}\n\n{found}\n\n{run.log}\n", "utf-8")


if __name__ == "__main__":
    main()

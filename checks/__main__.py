"""``python -m checks [PART ...]``: run the gate, or parts of it; with ``--deep`` those at depth.

Exit 0: all passed; 1: a part failed; 2: usage; 4: nothing failed, but the machine was too slow for
a test that measures time; 130: interrupted.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock

import click

from checks import deep_record
from checks.deep_parts import DEEP
from checks.draw import ROOT, Draw, head
from checks.gate_parts import GATE
from checks.lanes import run_all
from checks.machine_speed import additions_cpu_ms, speed_line
from checks.named_slices import UnknownPart, named_slices
from checks.part import Slice
from checks.part_run import Result, RunFolders, SliceRow, run_slice
from harness.base.orderly_end import orderly_end

GATE_PLACE = RunFolders("results/ci", ROOT / "results" / "ci-logs")
DEEP_PLACE = RunFolders("results/deep", ROOT / "results" / "deep-logs")
REPEATED_LINES = 40
EXIT_FAILED, EXIT_STARVED, EXIT_INTERRUPTED = 1, 4, 130
_PRINTING = Lock()


@click.command()
@click.argument("names", nargs=-1, metavar="[PART[:K/N]]...")
@click.option("--deep", is_flag=True, help="The parts at depth, each recorded in a line.")
@click.option("--draw", "word", default="", metavar="WORD",
              help="What samples are drawn by; default: the commit.")  # fmt: skip
@click.option("--list", "only_list", is_flag=True, help="Print the parts and run nothing.")
def main(names: tuple[str, ...], deep: bool, word: str, only_list: bool) -> None:
    """Run the checks of this repository."""
    draw, parts = Draw(word or head()), DEEP if deep else GATE
    try:
        slices = named_slices(parts, names)
    except UnknownPart as problem:
        raise click.UsageError(str(problem)) from problem
    if only_list:
        click.echo("\n".join(one.name for one in slices))
        return
    place = DEEP_PLACE if deep else GATE_PLACE
    if not deep:
        shutil.rmtree(ROOT / place.out, ignore_errors=True)
    place.logs.mkdir(parents=True, exist_ok=True)
    click.echo(f"drawn by {draw.word}; the same again: {repeat_command(deep, names, draw)}")
    stop, speed = Event(), {"at the start": additions_cpu_ms()}
    try:
        with orderly_end():
            rows = run_all(slices, partial(_run, draw, place, stop, len(slices) == 1, deep), stop)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    if not deep:
        _show_depth()
    _show(rows, place, deep, draw)
    print(speed_line({**speed, "at the end": additions_cpu_ms()}))
    sys.exit(exit_code(rows))


def repeat_command(deep: bool, names: Sequence[str], draw: Draw) -> str:
    """The command that runs the same parts with the same samples."""
    depth = ["--deep"] if deep else []
    return shlex.join(["scripts/test", *depth, *names, "--draw", draw.word])


def exit_code(rows: Sequence[SliceRow]) -> int:
    """Failed wins over starved."""
    results = {row.result for row in rows}
    if Result.FAILED in results:
        return EXIT_FAILED
    return EXIT_STARVED if Result.STARVED in results else 0


def _run(
    draw: Draw, place: RunFolders, stop: Event, is_single: bool, deep: bool, one: Slice
) -> SliceRow:
    """Run one slice; its output comes at once when it is the only one, else at its end."""
    if not is_single:
        _print(f"== {one.name} began".encode())
    row = run_slice(one, draw, place, stop, _write if is_single else lambda _: None)
    if not is_single:
        _print(place.log(one).read_bytes() + f"\n== {one.name} {row.result.value}".encode())
    if deep and row.result is not Result.INTERRUPTED:
        with _PRINTING:
            deep_record.append(deep_record.deep_run(row, draw))
    return row


def _print(text: bytes) -> None:
    with _PRINTING:
        _write(text + b"\n")


def _write(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.flush()


def _show_depth() -> None:
    """Print the age of the checks at depth."""
    print("\nat depth:")
    for line in deep_record.ages(DEEP, deep_record.read(), datetime.now(UTC)):
        print(f"  {line}")


def _show(rows: Sequence[SliceRow], place: RunFolders, deep: bool, draw: Draw) -> None:
    for row in rows:
        if row.result in (Result.FAILED, Result.STARVED):
            _show_again(row, place)
            print(f"again: {repeat_command(deep, [row.slice.name], draw)}")
    print("\n| part | result | counts | minutes | of processor |\n|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.slice.name} | {row.result.value} | {row.counts} | {row.seconds / 60:.1f} "
            f"| {row.cpu_seconds / 60:.1f} |"
        )
    counts = Counter(row.result for row in rows)
    rest = "".join(
        f", {counts[one]} {one.value}" for one in (Result.STARVED, Result.NOT_RUN) if counts[one]
    )
    print(f"\nparts: {counts[Result.PASSED]} passed, {counts[Result.FAILED]} failed{rest}")


def _show_again(row: SliceRow, place: RunFolders) -> None:
    """Print a part's result: of a long output only the end may be kept."""
    lines = place.log(row.slice).read_text("utf-8", "replace").splitlines()
    marks = ("FAILED ", "ERROR ", "the machine was too slow")
    named = [line for line in lines if line.startswith(marks)]
    heading = f"\n== {row.slice.name} {row.result.value}"
    print(heading, *named, "...", *lines[-REPEATED_LINES:], sep="\n")


if __name__ == "__main__":
    main()

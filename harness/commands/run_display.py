"""The displays of `run` for one target: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from harness.commands.progress import RunProgress
from harness.commands.run_lines import RunLines

Watch = Callable[[RunProgress], None]
"""Called all the time with what is known so far."""


@contextmanager
def show_nothing(spec: str, out: Path, console: Console) -> Iterator[Watch]:
    """For output that a program reads."""
    del spec, out, console
    yield lambda _: None


@contextmanager
def show_lines(spec: str, out: Path, console: Console) -> Iterator[Watch]:
    """Print lines; the last one also when the run is interrupted."""
    lines = RunLines(
        spec,
        out,
        lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True),
    )
    try:
        yield lines.watch
    finally:
        lines.end()


@contextmanager
def show_bar(spec: str, out: Path, console: Console) -> Iterator[Watch]:
    """Show a bar with the counts of verdicts and the longest wait."""
    del out
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[verdicts]}"),
        TextColumn("{task.fields[waits]}", markup=False),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(spec, total=None, verdicts="", waits="")

        def watch(seen: RunProgress) -> None:
            bar.update(
                task,
                completed=len(seen.cases),
                total=seen.planned or None,
                verdicts=seen.counts(),
                waits=seen.waits_for(),
            )

        yield watch

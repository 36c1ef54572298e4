"""Tables of the commands: drawn on a terminal where rich is installed, else plain columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click


def print_table(
    headings: Sequence[str], table: Sequence[Sequence[object]], title: str = ""
) -> None:
    """Print a table with rules on a terminal, with plain unwrapped columns in a pipe."""
    if not (sys.stdout.isatty() and _is_drawn(headings, table, title)):
        _print_columns(headings, table, title)


def _is_drawn(headings: Sequence[str], table: Sequence[Sequence[object]], title: str) -> bool:
    """Draw the table; False without the packages of the extra `run`."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ModuleNotFoundError:
        return False
    shown = Table(*headings, title=title or None)
    for cells in table:
        shown.add_row(*map(str, cells))
    Console().print(shown)
    return True


def _print_columns(headings: Sequence[str], table: Sequence[Sequence[object]], title: str) -> None:
    if title:
        click.echo(f"{title}:")
    widths = [max(len(str(row[i])) for row in [headings, *table]) for i in range(len(headings))]
    for row in [headings, *table]:
        words = (f"{cell!s:<{width}}" for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(words).rstrip())

"""``kafka-conformance codec errors``: Kafka's error codes, what they mean and since when."""

from __future__ import annotations

import json
from typing import Any

import click

from harness.codec.error_details import ErrorDetails, error_details, find_error


@click.command("errors", context_settings={"ignore_unknown_options": True})  # -1 is a code
@click.argument("which", metavar="[CODE|NAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="A list of objects.")
def errors_command(which: str | None, as_json: bool) -> None:
    """Show all error codes, or one by its number or a name that it has or had."""
    shown = list(error_details().values())
    if which is not None:
        found = find_error(which)
        if found is None:
            raise click.UsageError(f"no error {which!r}: codes go from -1 to {shown[-1].code}")
        shown = [found]
    if as_json:
        click.echo(json.dumps([_as_json(one) for one in shown], indent=2))
        return
    for one in shown:
        click.echo(_line(one))


def _line(one: ErrorDetails) -> str:
    retriable = "retriable" if one.retriable else "-"
    former = "".join(f" Formerly {old.name} ({old.releases})." for old in one.former_names)
    return (
        f"{one.code:>4}  {one.name:<42} {retriable:<9}  {one.first_release:<6}  "
        f"{one.meaning}{former}"
    )


def _as_json(one: ErrorDetails) -> dict[str, Any]:
    return {**one._asdict(), "former_names": [old._asdict() for old in one.former_names]}

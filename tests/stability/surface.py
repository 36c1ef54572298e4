"""The names that users build on, as plain values: those of the last release, and those of now.

``python -m tests.stability.surface`` writes those of now into ``last_release.json``; a release does
so, and nothing else.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

import harness.fixtures
from harness.cli import main
from harness.conformance.catalogue import load_catalogue
from harness.conformance.fault_journal import FAULTS
from harness.conformance.gate import GateExit
from harness.conformance.history_journal import HISTORIES
from harness.conformance.results import RESULTS
from harness.conformance.summary import RunExit
from harness.conformance.verdict import Verdict
from harness.conformance.wire import WIRE
from reports.as_json import SCHEMA_FILE

FILE = Path(__file__).with_name("last_release.json")
LABS = "lab"
"""Its commands are for the authors of this project, and promise nothing."""


def surface() -> dict[str, Any]:
    """Names as lists, and names with a value that stays as objects."""
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return {
        "requirements": sorted(load_catalogue().requirements),
        "verdicts": [verdict.value for verdict in Verdict],
        "exit codes of run": {code.name: int(code) for code in RunExit},
        "exit codes of gate": {code.name: int(code) for code in GateExit},
        "options": dict(sorted(_options(main, ()))),
        "columns": {
            one.name: {name: kind for name, kind, *_ in one.schema.columns}
            for one in (RESULTS, WIRE, FAULTS, HISTORIES)
        },
        "fields of matrix.json": list(schema["required"]),
        "fixtures": sorted(name for name, _ in inspect.getmembers(harness.fixtures, _is_fixture)),
    }


def gone(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """Every name of before that is not there now, or has another value; what is new is no loss."""
    if isinstance(before, Mapping):
        for name, value in before.items():
            place = f"{where}: {name}" if where else name
            if not isinstance(now, Mapping) or name not in now:
                yield place
            else:
                yield from gone(value, now[name], place)
    elif isinstance(before, list):
        yield from (f"{where}: {name}" for name in before if name not in now)
    elif before != now:
        yield f"{where}: was {before}, is {now}"


def _options(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and name != LABS:
                yield from _options(below, (*path, name))
    else:
        options = (one for one in command.params if isinstance(one, click.Option))
        yield " ".join(path), sorted(word for one in options for word in one.opts)


def _is_fixture(value: object) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition"


if __name__ == "__main__":
    FILE.write_text(json.dumps(surface(), indent=1, ensure_ascii=False) + "\n", "utf-8")

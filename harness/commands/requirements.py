"""``kafka-conformance requirements``: the catalogue, and what of it is judged."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands.judging import suites_root
from harness.commands.requirement_globs import matching
from harness.commands.suite_pytest import suite_environment, suite_options
from harness.conformance.catalogue import Requirement, UnknownRequirementError, load_catalogue
from harness.conformance.coverage import coverage as coverage_of
from harness.conformance.defect_tables import DefectTableError, proved_in
from harness.conformance.observed import ObservedError, the_observed
from harness.conformance.where_judged import defects, judging_tests

if TYPE_CHECKING:
    import pytest

_A_LINE_EACH = ("tests", "defects")
"""Lists whose entries are printed below one another."""


@click.group()
def requirements() -> None:
    """The requirements catalogue: list, show, coverage."""


@requirements.command("list")
@click.argument("glob", default="*")
@click.option("--level", type=click.Choice(["MUST", "SHOULD", "MAY"]), help="Only this level.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def list_(glob: str, level: str | None, as_json: bool) -> None:
    """List the requirements with an id that matches GLOB, such as 'PROD-*'."""
    known = load_catalogue().requirements
    found = [known[name] for name in matching(glob) if level in (None, known[name].level)]
    if not found:
        raise click.UsageError(f'no {level} matches "{glob}"; its requirements have other levels')
    if as_json:
        click.echo(json.dumps([_as_json(requirement) for requirement in found]))
        return
    for requirement in found:
        click.echo(f"{requirement.id}  {requirement.level:<6}  {requirement.statement}")


@requirements.command()
@click.argument("requirement_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(requirement_id: str, as_json: bool) -> None:
    """Show the entry of ID, its tests and defects, and the results on releases of Kafka."""
    try:
        requirement = load_catalogue().requirement(requirement_id)
    except UnknownRequirementError as error:
        raise click.UsageError(str(error)) from error
    try:
        values = {
            **_as_json(requirement),
            "observed": the_observed().words(requirement.id),
            **_judged(requirement.id),
        }
    except ObservedError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(values))
        return
    for name, value in values.items():
        if value not in (None, "", [], {}):
            between = f"\n{'':15}" if name in _A_LINE_EACH else ", "
            shown = between.join(value) if isinstance(value, list) else value
            if isinstance(value, dict):
                shown = "; ".join(f"{state} {where}" for state, where in value.items())
            click.echo(f"{name:<14} {shown}")


def _judged(name: str) -> dict[str, Any]:
    """The tests and defects of a requirement, and the command that runs it."""
    root = suites_root()
    tests = judging_tests(name, root)
    run = f"kafka-conformance run --requirement {name} --target reference --out results"
    return {
        "tests": [str(test) for test in tests],
        "defects": defects(name, root),
        "run": run if tests else None,
    }


@requirements.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option(
    "--defects",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of defect tables: how many judged MUSTs do they leave unproved?",
)
def coverage(as_json: bool, folder: Path | None) -> None:
    """Show how many requirements a test judges, area by area."""
    catalogue = load_catalogue()
    try:
        found = coverage_of(declared_ids(), catalogue, proved_in(folder) if folder else None)
    except DefectTableError as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        click.echo(json.dumps(asdict(found)))
        return
    click.echo(f"catalogue {catalogue.version}")
    click.echo(_row("area", "judged", None if folder is None else "unproved", "reason", "open"))
    for area in found.areas:
        unproved = None if area.unproved is None else len(area.unproved)
        counts = len(area.judged), unproved, len(area.not_judged), len(area.unexplained)
        click.echo(f"{_row(area.area, *counts)}  {area.title}")
    click.echo(_row("all", found.judged, found.unproved, found.not_judged, found.unexplained))


def _row(name: str, *cells: object) -> str:
    """In columns; what is None has none."""
    return f"{name:<6}" + "".join(f" {cell!s:>8}" for cell in cells if cell is not None)


def declared_ids() -> list[str]:
    """The ids that the suites' tests declare to judge, by collecting them."""
    import pytest

    seen = _Collector()
    said = io.StringIO()
    words = [*suite_options(), str(suites_root() / "suites"), "--collect-only", "-q"]
    with contextlib.redirect_stdout(said), _environment(suite_environment()):
        code = pytest.main(words, plugins=[seen])
    if code != pytest.ExitCode.OK:
        raise click.ClickException(f"the suites cannot be collected:\n{said.getvalue()}")
    return seen.ids


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(values)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _Collector:
    def __init__(self) -> None:
        self.ids: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        marks: Sequence[pytest.Mark | None] = [
            i.get_closest_marker("judges") for i in session.items
        ]
        self.ids = sorted({name for mark in marks if mark for name in mark.args})


def _as_json(requirement: Requirement) -> dict[str, Any]:
    values = asdict(requirement)
    return {
        name: sorted(value) if isinstance(value, frozenset) else list(value)
        if isinstance(value, tuple) else value
        for name, value in values.items()
    }  # fmt: skip

"""``kafka-conformance codec list``: every API, its versions, and since which release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from harness.codec.apis import APIS
from harness.codec.first_releases import first_releases
from harness.codec.messages import message_class, message_names, older_releases
from harness.commands.table import print_table

_API_HEADINGS = ("key", "name", "versions", "flexible", "first release of each version")
_SCHEMA_HEADINGS = ("type", "name", "versions", "flexible", "other layouts up to release")


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--all", "with_schemas", is_flag=True, help="The schemas of no API too.")
def list_command(as_json: bool, with_schemas: bool) -> None:
    """List the APIs: versions, first flexible one, first releases."""
    if as_json:
        click.echo(json.dumps([*_api_rows(), *(_schema_rows() if with_schemas else [])]))
        return
    pairs = 0
    table = []
    for row in _api_rows():
        low, high = row["versions"]["min"], row["versions"]["max"]
        pairs += high - low + 1
        flexible = "never" if row["flexible_from"] is None else row["flexible_from"]
        releases = _release_text(row["first_release"])
        table.append((row["api_key"], row["name"], f"{low}-{high}", flexible, releases))
    print_table(_API_HEADINGS, table)
    if with_schemas:
        print_table(_SCHEMA_HEADINGS, [_schema_cells(row) for row in _schema_rows()])
    click.echo(f"{len(table)} APIs, {pairs} (api, version) pairs")


def _api_rows() -> Iterator[dict[str, Any]]:
    for key in sorted(APIS):
        api = APIS[key]
        releases = first_releases(key)
        yield {
            "api_key": key,
            "name": api.name,
            "versions": {"min": api.valid_versions.lowest, "max": api.valid_versions.highest},
            "flexible_from": api.flexible_versions.lowest if api.flexible_versions else None,
            "first_release": {str(v): releases[v].release for v in api.valid_versions},
        }


def _schema_rows() -> Iterator[dict[str, Any]]:
    """Headers, records, files, embedded protocols: what is neither request nor response."""
    for name in message_names():
        spec = message_class(name).message_spec
        if spec.type not in ("request", "response"):
            yield {
                "type": spec.type,
                "name": name,
                "versions": {"min": spec.valid.lowest, "max": spec.valid.highest},
                "flexible_from": spec.flexible.lowest if spec.flexible else None,
                "older_releases": list(older_releases(name)),
            }


def _schema_cells(row: dict[str, Any]) -> tuple[object, ...]:
    versions = f"{row['versions']['min']}-{row['versions']['max']}"
    flexible = "never" if row["flexible_from"] is None else row["flexible_from"]
    return row["type"], row["name"], versions, flexible, " ".join(row["older_releases"])


def _release_text(first: dict[str, str]) -> str:
    """``0-1:0.9 2:0.10.0``: neighbouring versions of one release together."""
    found = []
    for release, group in groupby(first.items(), key=lambda pair: pair[1]):
        versions = [version for version, _ in group]
        span = versions[0] if len(versions) == 1 else f"{versions[0]}-{versions[-1]}"
        found.append(f"{span}:{release}")
    return " ".join(found)

"""``kafka-conformance versions``: what a client negotiates with each target, and what it loses."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from harness.codec.unknown_apis import told_unknown
from harness.commands.table import print_table
from harness.negotiation.client_file import ClientFile, ClientFileError, find_client
from harness.negotiation.negotiate import Agreed, Negotiation, least_levels, negotiate
from harness.targets.asking import (
    FIRST_WITH_FEATURES,
    FeatureLevels,
    ask_finalized_features,
)
from harness.targets.errors import TargetError
from harness.targets.info import ANSWER_TIMEOUT_MS, TargetInfo, probe
from harness.targets.not_answered import NotAnswered, wrong_answer_behind
from harness.targets.spec import expand_all, parse_target
from harness.targets.target import Target

API_VERSIONS_KEY = 18
FIRST_API = "Metadata"
"""Without it a client finds no broker to send anything else to."""
EXIT_LOST, EXIT_NOT_ASKED = 1, 3


@dataclass(frozen=True, slots=True)
class _Asked:
    """A target that answered, and what the client makes of it."""

    info: TargetInfo
    result: Negotiation

    @property
    def told_its_versions(self) -> bool:
        return API_VERSIONS_KEY in self.info.api_versions


@click.command("versions")
@click.option(
    "--client",
    "client_name",
    required=True,
    metavar="NAME|FILE",
    help="A client that we know, such as librdkafka-2.16, or a TOML file about another.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.argument("specs", nargs=-1, required=True, metavar="TARGET...")
def versions_command(client_name: str, as_json: bool, specs: tuple[str, ...]) -> None:
    """Show the versions that a client would negotiate with each TARGET, and what it loses.

    No request of the client is sent: the target's version ranges and the finalized features of its
    cluster are compared with the client's.

    Exit 0: the client can use each of its APIs and features; 1: not all of them, or a target
    answers wrongly; 2: usage; 3: a target could not be asked.
    """
    try:
        client = find_client(client_name)
    except ClientFileError as problem:
        raise click.BadParameter(str(problem), param_hint="--client") from problem
    with TemporaryDirectory(prefix="kafka-conformance-versions-") as logs:
        try:
            targets = [parse_target(spec, log_dir=Path(logs)) for spec in expand_all(specs)]
        except TargetError as problem:
            raise click.UsageError(str(problem)) from problem
        try:
            asked = [_ask(target, client) for target in targets]
        except TargetError as problem:
            click.echo(f"Error: {problem}", err=True)
            sys.exit(EXIT_LOST if wrong_answer_behind(problem) else EXIT_NOT_ASKED)
    (_print_json if as_json else _print_tables)(client, asked)
    sys.exit(0 if all(one.result.is_whole for one in asked) else EXIT_LOST)


def _ask(target: Target, client: ClientFile) -> _Asked:
    with target:
        info = probe(target)
        finalized = _finalized(info)
    return _Asked(info, negotiate(client, info.api_versions, finalized))


def _finalized(info: TargetInfo) -> FeatureLevels:
    """None where ApiVersions v3 is not advertised. Raises TargetError, as probe does."""
    _, highest = info.api_versions.get(API_VERSIONS_KEY, (0, -1))
    if highest < FIRST_WITH_FEATURES:
        return {}
    try:
        levels = [ask_finalized_features(at, ANSWER_TIMEOUT_MS) for at in info.addresses]
    except NotAnswered as problem:
        raise TargetError(f"{info.spec}: finalized features: {problem}") from problem
    return least_levels(levels)


def _print_json(client: ClientFile, asked: list[_Asked]) -> None:
    click.echo(json.dumps({"client": client.name, "targets": [_as_json(one) for one in asked]}))


def _as_json(one: _Asked) -> dict[str, Any]:
    return {
        "target": one.info.spec,
        "release": one.info.release,
        "answers_api_versions": one.told_its_versions,
        "apis": [
            {
                "api": row.api,
                "client": str(row.client),
                "broker": str(row.broker),
                "version": row.version,
            }
            for row in one.result.agreed
        ],
        "without_common_version": [row.api for row in one.result.without_common_version],
        "absent": [row.api for row in one.result.absent],
        "unknown_apis": told_unknown(one.info.api_versions),
        "features": [
            {"feature": f.name, "meaning": f.meaning, "since": f.since, "kept": f.kept,
             "missing": list(f.missing)}
            for f in one.result.features
        ],
    }  # fmt: skip


def _print_tables(client: ClientFile, asked: list[_Asked]) -> None:
    names = [one.info.spec for one in asked]
    agreed = []
    for rows in zip(*(one.result.agreed for one in asked), strict=True):
        cells = ["-" if row.version is None else row.version for row in rows]
        agreed.append((rows[0].api, rows[0].client, *cells))
    print_table(("API", client.name, *names), agreed, "negotiated versions")
    features = []
    for states in zip(*(one.result.features for one in asked), strict=True):
        marks = ["kept" if state.kept else "lost" for state in states]
        features.append((f"{states[0].name}: {states[0].meaning}", states[0].since or "", *marks))
    print_table(("feature", "since", *names), features, "features")
    for one in asked:
        for line in _sentences(client, one):
            click.echo(f"{one.info.spec}: {line}")


def _sentences(client: ClientFile, one: _Asked) -> list[str]:
    lines = []
    if not one.told_its_versions:
        lines.append(f"does not answer ApiVersions; {client.name}: {client.without_api_versions}")
    result = one.result
    if any(row.api == FIRST_API and row.version is None for row in result.agreed):
        lines.append(f"{client.name} cannot use this broker at all: no version of {FIRST_API}")
    if apart := result.without_common_version:
        lines.append(f"no common version of {', '.join(_ranges(row) for row in apart)}")
    if result.absent:
        lines.append(f"the broker has no {', '.join(row.api for row in result.absent)}")
    lines += [
        f"without {state.name} ({state.meaning}): lacks {', '.join(state.missing)}"
        for state in result.lost
    ]
    lines = lines or ["nothing is lost"]
    if unknown := told_unknown(one.info.api_versions):
        lines.append(f"has APIs that Apache Kafka does not have: {', '.join(unknown)}")
    return lines


def _ranges(row: Agreed) -> str:
    return f"{row.api} (client {row.client}, broker {row.broker})"

"""``kafka-conformance clients``: judge pairs of a client of another project and a broker."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from harness.base.orderly_end import orderly_end
from harness.clients.known import KnownClient, UnknownClient, parse_client
from harness.commands.client_matrix import print_matrix, text_of
from harness.commands.client_pairs import ClientPair, PairMaker, own_broker
from harness.commands.judging import RunInterrupted
from harness.commands.requirement_globs import require_known
from harness.conformance.summary import RunExit, joint_exit_code
from harness.runner.datasets import load_parquet, write_parquet
from harness.targets.errors import TargetError
from harness.targets.java import JavaError
from harness.targets.spec import expand_all, parse_target

AREA = "CLIENT-*"


@click.command("clients")
@click.option("--client", "words", multiple=True, required=True, metavar="NAME|FILE",
              help="kafka-python, confluent-kafka, aiokafka, java, franz-go, sarama, kafka-go, "
              "kafkajs, each with -RELEASE or without, or a driver file; repeatable.")  # fmt: skip
@click.option("--target", "specs", multiple=True, metavar="SPEC",
              help="As of `run`, by default reference; may be repeated.")  # fmt: skip
@click.option("--at", "at", metavar="SPEC",
              help="The broker that each client is asked at first; what fails there is the "
              "client's. By default an Apache Kafka that shares all of its APIs with the client, "
              "and the built-in broker where there is no Java.")  # fmt: skip
@click.option(
    "--requirement",
    "globs",
    multiple=True,
    metavar="GLOB",
    default=(AREA,),
    help="Only requirements that match, such as CLIENT-007; may be repeated.",
)
@click.option(
    "--jobs",
    default=2,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Test processes at the same time, each with a process of the client.",
)
@click.option("--answer-s", default=90.0, show_default=True, type=click.FloatRange(0.1),
              metavar="SECONDS", help="Time of a client for one call.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder for journals, evidence and Parquet; may hold earlier runs.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def clients_command(
    words: tuple[str, ...],
    specs: tuple[str, ...],
    at: str | None,
    globs: tuple[str, ...],
    jobs: int,
    answer_s: float,
    out: Path,
    as_json: bool,
) -> None:
    """Judge each pair of a client and a broker; the requirements are those of the area CLIENT.

    \b
    Exit codes: 0 something passed and nothing failed, 1 something failed, 2 wrong usage, or a
                client is not installed, 3 incomplete, a client broke the protocol of drivers, or
                nothing passed.
    """
    require_known(globs)
    known = [_client(word) for word in words]
    targets = _targets(specs or ("reference",), at)
    load_parquet()
    screen = Console(stderr=True, quiet=as_json)
    maker = PairMaker(out.absolute(), jobs, answer_s, globs, screen)
    pairs: list[ClientPair] = []
    try:
        with orderly_end():
            for word, client in zip(words, known, strict=True):
                pairs += maker.pairs_of(word, client, at or own_broker(client), targets)
    except RunInterrupted:
        click.echo("interrupted: the matrix is incomplete", err=True)
        sys.exit(RunExit.INCOMPLETE)
    for lacking in write_parquet(out):
        click.echo(lacking, err=True)
    if as_json:
        click.echo(
            json.dumps({"exit": exit_code(pairs), "pairs": [_as_json(one) for one in pairs]})
        )
    else:
        print_matrix(pairs)
    sys.exit(exit_code(pairs))


def exit_code(pairs: Sequence[ClientPair]) -> int:
    """Of all pairs together; incomplete when one of them has no result."""
    found = [pair.judged.summary for pair in pairs if pair.judged.summary]
    if len(found) < len(pairs):
        return RunExit.INCOMPLETE
    return joint_exit_code(found)


def _client(word: str) -> KnownClient:
    """Raises UsageError; a missing package ends the command as that of any extra does."""
    try:
        client = parse_client(word)
        client.prepare()
    except UnknownClient as problem:
        raise click.BadParameter(str(problem), param_hint="--client") from problem
    except (JavaError, TargetError) as problem:
        raise click.UsageError(f"--client {word}: {problem}") from problem
    return client


def _targets(specs: Sequence[str], at: str | None) -> list[str]:
    """One string for each target; raises UsageError."""
    try:
        targets = expand_all(specs)
        for spec in [*targets, *([at] if at else [])]:
            parse_target(spec)
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    return list(targets)


def _as_json(pair: ClientPair) -> dict[str, Any]:
    summary = pair.judged.summary
    found = {} if summary is None else summary.requirements
    return {
        "client": pair.client.label,
        "target": pair.spec,
        "at": pair.at,
        "folder": str(pair.judged.run_dir),
        "problem": pair.judged.problem or None,
        "requirements": {name: one.verdict.value for name, one in found.items()},
        "reasons": {name: text for name, one in found.items() if (text := text_of(one))},
    }

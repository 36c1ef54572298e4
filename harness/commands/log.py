"""``kafka-conformance log``: what stands in a broker's data folder, and what is wrong with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from harness.codec.data_framing.log_folder import (
    LogDirectoryFiles,
    NotALogFolder,
    PartitionFolder,
    open_log,
    partitions_of,
)
from harness.codec.data_framing.own_topics import WrittenTo, part_text
from harness.commands.release_option import known_release, release_word
from harness.log_tools.broker_check import BrokerCheck
from harness.log_tools.findings import Finding
from harness.log_tools.log_values import log_values
from harness.log_tools.release_limits import ReleaseLimits
from harness.log_tools.start_verdict import StartVerdict

EXIT_WRONG = 1
SHOWN_BYTES = 64
_DIRECTORIES = click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="DIR...",
    type=click.Path(exists=True, path_type=Path),
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


@click.group("log")
def log() -> None:
    """Read the data folder of any Kafka from 0.8.0 on, without a broker. Nothing is changed.

    DIR is one of log.dirs, a TOPIC-PARTITION folder in it, or one file of these.
    """


@log.command("dump")
@_DIRECTORIES
@click.option("--records", is_flag=True, help="Each record, too.")
@click.option("--topic", metavar="NAME",
              help="The topic, where the folder is not called TOPIC-PARTITION.")  # fmt: skip
@click.option("--release", metavar="R", callback=release_word,
              help="The release that wrote records of Kafka's own topics, such as 3.7; else every "
              "layout is tried.")  # fmt: skip
@_JSON
def dump_command(
    paths: tuple[Path, ...], records: bool, topic: str | None, release: str | None, as_json: bool
) -> None:
    """Print batches, index entries, checkpoints and notes, in the order of offsets.

    What cannot be read is printed as well, with the place where it stands. Records of Kafka's own
    topics, such as __consumer_offsets and __cluster_metadata, are decoded by their schemas.

    Exit 0: printed; 2: usage, or a file that may not be read.
    """
    file, written_to = "", WrittenTo(topic, release)
    for found in _opened(paths):
        with _told_as_usage():
            for value in log_values(found, records=records, written_to=written_to):
                if as_json:
                    click.echo(json.dumps(value, default=_plain))
                    continue
                if value["file"] != file:
                    file = value["file"]
                    click.echo(file)
                click.echo(_line(value))


@log.command("verify")
@_DIRECTORIES
@click.option("--release", metavar="R", callback=known_release,
              help="The release that has to start on the folders, such as 3.9.2: report what it "
              "cannot read, and the start.")  # fmt: skip
@_JSON
def verify_command(paths: tuple[Path, ...], release: str | None, as_json: bool) -> None:
    """Check logs: show what is wrong, where, and how a broker treats it at its start.

    Checksums and records of every batch, offsets that rise, indexes that fit their segments, leader
    epochs, checkpoints, snapshots of producers. Log directories that are given together are those
    of one broker: their ids, their partitions and the metadata log must fit each other.

    Exit 0: all is sound; 1: something is wrong; 2: usage, or a file that may not be read.
    """
    wrong, opened = 0, _opened(paths)
    with _told_as_usage():
        check = BrokerCheck(opened, ReleaseLimits(release) if release else None)
    for path, found in zip(paths, opened, strict=True):
        before = wrong
        with _told_as_usage():
            for finding in check.findings(found):
                wrong += 1
                click.echo(_json(finding) if as_json else _sentence(finding))
        if not as_json:
            _tell_rest(path, found, wrong - before)
    verdict = check.verdict()
    if verdict is not None:
        click.echo(_verdict_json(verdict) if as_json else str(verdict))
    sys.exit(EXIT_WRONG if wrong else 0)


def _opened(paths: tuple[Path, ...]) -> list[LogDirectoryFiles | PartitionFolder]:
    """All of them before anything is printed."""
    with _told_as_usage():
        return [open_log(path) for path in paths]


@contextmanager
def _told_as_usage() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (NotALogFolder, OSError) as problem:
        raise click.UsageError(str(problem)) from problem


def _tell_rest(path: Path, found: LogDirectoryFiles | PartitionFolder, wrong: int) -> None:
    for other in _left_alone(found):
        click.echo(f"{other}: left alone")
    told = {0: "all is sound", 1: "1 problem"}.get(wrong, f"{wrong} problems")
    click.echo(f"{path}: {told} ({_counted(found)})")


def _counted(found: LogDirectoryFiles | PartitionFolder) -> str:
    folders = list(partitions_of(found))
    segments = sum(segment.log is not None for folder in folders for segment in folder.segments)
    return f"partitions: {len(folders)}, segments: {segments}"


def _left_alone(found: LogDirectoryFiles | PartitionFolder) -> Iterator[Path]:
    if isinstance(found, LogDirectoryFiles):
        yield from found.others
    for folder in partitions_of(found):
        yield from folder.others


def _json(finding: Finding) -> str:
    return json.dumps(asdict(finding) | {"file": str(finding.file)})


def _verdict_json(verdict: StartVerdict) -> str:
    return json.dumps({"kind": "start", **verdict._asdict(), "result": verdict.result.word})


def _sentence(finding: Finding) -> str:
    places = [
        f"{name} {number}"
        for name, number in (("byte", finding.position), ("offset", finding.offset))
        if number is not None
    ]
    where = ", ".join((str(finding.file), *places))
    return f"{where}: {finding.problem} [{finding.kind}; {finding.recovery}]"


def _line(value: dict[str, Any]) -> str:
    """Everything but the file, each with its name."""
    words = [str(value["kind"])]
    decoded = value.get("decoded", {})
    for name, part in value.items():
        if name in ("key", "value") and decoded.get(name):
            words.append(f"{name}: {part_text(decoded[name])}")
        elif name not in ("kind", "file", "decoded"):
            words.append(f"{name}: {_shown(part)}")
    words += [f"note: {decoded['note']}"] if "note" in decoded else []
    return "  " + " ".join(words)


def _shown(part: object) -> str:
    if isinstance(part, bool) or part is None:
        return {True: "yes", False: "no", None: "-"}[part]
    if isinstance(part, bytes):
        more = f"... ({len(part)} bytes)" if len(part) > SHOWN_BYTES else ""
        return f"{part[:SHOWN_BYTES]!r}{more}"
    if isinstance(part, dict):
        return " ".join(f"{name}={_shown(one)}" for name, one in part.items())
    if isinstance(part, list):
        return "[" + ", ".join(map(_shown, part)) + "]"
    return str(part)


def _plain(part: object) -> object:
    """Convert a value that JSON has no form for. Raises TypeError: it is of another type."""
    if isinstance(part, bytes):
        return part.hex()
    if isinstance(part, UUID):
        return str(part)
    raise TypeError(f"{type(part).__name__} in a value")

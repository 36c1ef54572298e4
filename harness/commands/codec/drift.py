"""``kafka-conformance codec drift``: our definitions against those of any release."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from harness.codec.drift.check import DriftReport, check_drift
from harness.codec.drift.compare import DriftDifference
from harness.codec.drift.errors import DriftError
from harness.codec.drift.kafka_jar import read_definitions


@click.command("drift")
@click.argument("source", metavar="JAR|DIR", type=click.Path(path_type=Path))
@click.option("--release", metavar="X", help="Its release, when it does not say so, like 3.9.2.")
@click.option("--all", "with_reviewed", is_flag=True, help="Show the reviewed differences too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, reviewed differences too.")
def drift_command(source: Path, release: str | None, with_reviewed: bool, as_json: bool) -> None:
    """Compare our message definitions with those in a kafka-clients JAR (2.2 or later) or a DIR.

    Field by field, in every version that it has. The known differences are listed in a reviewed
    file. Exit code 0: all is as reviewed; 1: a difference is not listed, or a listed one is not
    there; 2: nothing to compare with.
    """
    try:
        report = check_drift(read_definitions(source, release))
    except DriftError as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        click.echo(json.dumps(_json(report), indent=2))
    else:
        _show(report, with_reviewed)
    sys.exit(0 if report.is_as_reviewed else 1)


def _show(report: DriftReport, with_reviewed: bool) -> None:
    for line in report.problems():
        click.echo(line)
    review = report.review
    if with_reviewed:
        for one, reason in review.as_reviewed:
            click.echo(f"reviewed: {one} ({reason})")
    click.echo(
        f"Kafka {report.release}: {report.definitions} definitions, {report.versions} versions; "
        f"{len(review.as_reviewed)} differences as reviewed, {len(review.unlisted)} not listed, "
        f"{len(review.stale)} listed but not there"
    )


def _json(report: DriftReport) -> dict[str, object]:
    review = report.review
    return {
        "release": report.release,
        "definitions": report.definitions,
        "versions": report.versions,
        "as_reviewed": report.is_as_reviewed,
        "unlisted": [_difference(one) for one in review.unlisted],
        "stale": [{**_difference(one), "releases": at} for one, at in review.stale],
        "reviewed": [{**_difference(one), "reason": why} for one, why in review.as_reviewed],
    }


def _difference(one: DriftDifference) -> dict[str, object]:
    return {
        "message": one.message,
        "versions": list(one.versions),
        "field": one.place,
        "what": one.what,
        "ours": one.ours,
        "theirs": one.theirs,
    }

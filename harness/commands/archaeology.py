"""``kafka-conformance archaeology``: what many releases of Kafka say together."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.base.bundle import suites_root
from harness.conformance.catalogue import Requirement, load_catalogue
from harness.conformance.dated import why_not_promised
from harness.conformance.found_runs import ResultsNotFound
from harness.conformance.kafka_name import MODES, WITH, kafka_name
from harness.conformance.observed import OBSERVED_FILE, ObservedFile, ObservedState, write_observed
from harness.conformance.parquet import ensure_parquet
from harness.conformance.profile import Profile, ProfileError, load_profile
from harness.conformance.results import RESULTS
from harness.targets.java import JavaError, spark_java_home

if TYPE_CHECKING:
    from reports.archaeology.given import Given, KnownBug, Promise, TargetPlace
    from reports.archaeology.history import Archaeology

CONSISTENT, CONTRADICTIONS, INCOMPLETE = 0, 1, 3
SETTING = "set."
KNOWN_BUGS = "suites/apache-kafka.profile.toml"


@click.command("archaeology")
@click.argument("folders", nargs=-1, required=True, metavar="RESULTS...",
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path),
              help="Folder for tables and page; default: archaeology/ in RESULTS.")  # fmt: skip
@click.option("--profile", "profile_file", type=click.Path(path_type=Path, dir_okay=False),
              default=lambda: suites_root() / KNOWN_BUGS, show_default=KNOWN_BUGS,
              help="Known bugs of releases (TOML).")  # fmt: skip
@click.option("--write-observed", is_flag=True,
              help="Write observed.tsv beside the catalogue, for 'requirements show'.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--master", default="local[*]", show_default=True, help="Where Spark runs.")
def archaeology_command(
    folders: tuple[Path, ...],
    out: Path | None,
    profile_file: Path,
    write_observed: bool,
    as_json: bool,
    master: str,
) -> None:
    """Show since which release of Kafka each requirement holds, and compare it with the catalogue.

    Takes the newest run of each target kafka:RELEASE (without set.NAME=VALUE) in RESULTS... and
    writes archaeology.html, archaeology.md, releases.parquet and changes.parquet.

    \b
    Exit codes: 0 all agree with the catalogue's dates, 1 something contradicts them,
                2 wrong usage or no such run, 3 a run is incomplete.
    """
    out = out or folders[0] / "archaeology"
    found = _found(folders, out, profile_file, master)
    if write_observed:
        _write_observed(found)
    click.echo(json.dumps(_as_json(found, out), indent=1) if as_json else _as_text(found, out))
    for sentence in found.incomplete:
        click.echo(f"incomplete: {sentence}", err=True)
    sys.exit(_exit_code(found))


def _found(folders: tuple[Path, ...], out: Path, profile: Path, master: str) -> Archaeology:
    from reports.archaeology.build import build_archaeology
    from reports.errors import ReportError

    unreadable: list[str] = []
    try:
        known = load_profile(profile, load_catalogue())
        for folder in folders:
            unreadable += [why for _, why in ensure_parquet(RESULTS, folder).unreadable]
        os.environ["JAVA_HOME"] = str(spark_java_home().home)
        given = _given(known, tuple(unreadable))
        return build_archaeology(list(folders), out, master, given=given)
    except (ReportError, ResultsNotFound, ProfileError, JavaError, OSError) as error:
        left_out = [f"left out: {why}" for why in unreadable]
        raise click.UsageError("\n".join([str(error), *left_out])) from error


def _given(profile: Profile, unreadable: tuple[str, ...]) -> Given:
    from reports.archaeology.given import Given

    promises = {name: _promise(one) for name, one in load_catalogue().requirements.items()}
    return Given(
        promises=promises,
        place_of=_place_of,
        bugs_of=partial(_bugs_of, profile),
        order=MODES,
        unreadable=unreadable,
    )


def _promise(requirement: Requirement) -> Promise:
    from reports.archaeology.given import Promise

    return Promise(
        area=requirement.area,
        level=requirement.level,
        statement=requirement.statement,
        since=requirement.since,
        until=requirement.until,
        note=requirement.since_note,
        not_in=requirement.not_in,
        holds_in=lambda release: why_not_promised(requirement, release) is None,
    )


def _place_of(target: str) -> TargetPlace | None:
    from reports.archaeology.given import TargetPlace

    name = kafka_name(target)
    if name is None or name.mode not in MODES:
        return None
    if WITH in name.options or any(option.startswith(SETTING) for option in name.options):
        return None  # other settings, or nodes of another release, do not represent a release
    return TargetPlace(name.release, name.mode)


def _bugs_of(profile: Profile, target: str) -> dict[str, KnownBug]:
    from reports.archaeology.given import KnownBug

    known = profile.known_failures_of(target)
    return {name: KnownBug(entry.reason, entry.link or "") for name, entry in known.items()}


def _write_observed(found: Archaeology) -> None:
    if found.incomplete:
        click.echo(f"not written: {OBSERVED_FILE}: it takes whole runs only", err=True)
        return
    states = {state.value for state in ObservedState}
    observed = ObservedFile(
        suites=found.suite_versions,
        catalogues=found.catalogue_versions,
        columns=tuple((column.release, column.mode) for column in found.columns),
        states={
            row.id: {
                (found.columns[at].release, found.columns[at].mode): ObservedState(cell.state.value)
                for at, cell in enumerate(row.cells)
                if cell.state.value in states
            }
            for row in found.rows
        },
    )
    write_observed(observed, OBSERVED_FILE)
    click.echo(f"wrote {OBSERVED_FILE}", err=True)


def _exit_code(found: Archaeology) -> int:
    """An incomplete run comes first: then nothing is sure."""
    if found.incomplete:
        return INCOMPLETE
    return CONTRADICTIONS if found.contradictions else CONSISTENT


def _as_text(found: Archaeology, out: Path) -> str:
    from reports.archaeology.build import HTML
    from reports.archaeology.ranges import contradictions

    lines = [
        f"{row.id} ({row.promise.dates}) {what}: {at}"
        for row in found.contradictions
        for what, at, _ in contradictions(row, found.columns)
    ]
    counts = Counter(row.agreement.value.replace("_", " ") for row in found.rows)
    changes = sum(len(row.changes) for row in found.rows)
    lines.append(
        f"{len(found.rows)} requirements on {len(found.columns)} releases, {changes} points of "
        f"change: {', '.join(f'{count} {what}' for what, count in sorted(counts.items()))}"
    )
    return "\n".join([*lines, str(out / HTML)])


def _as_json(found: Archaeology, out: Path) -> dict[str, Any]:
    from reports.archaeology.history import State
    from reports.archaeology.ranges import contradictions, of_state

    return {
        "exit": _exit_code(found),
        "out": str(out),
        "releases": [column.name for column in found.columns],
        "incomplete": list(found.incomplete),
        "requirements": {
            row.id: {
                "since": row.promise.since,
                "until": row.promise.until,
                "not_in": list(row.promise.not_in),
                "agreement": row.agreement.value,
                "observed": {
                    state.value: at
                    for state in State
                    if (at := of_state(row, found.columns, state))
                },
                "contradictions": [
                    {"what": what, "releases": at, "reason": reason}
                    for what, at, reason in contradictions(row, found.columns)
                ],
                "changes": [
                    {
                        "before": found.columns[change.before].name,
                        "after": found.columns[change.after].name,
                        "was": change.was.value,
                        "now": change.now.value,
                        "agreement": change.agreement.value,
                    }
                    for change in row.changes
                ],
            }
            for row in found.rows
        },
    }

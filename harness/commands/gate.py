"""``kafka-conformance gate``: may these results go through?"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import click

from harness.base.bundle import SuitesNotUnpacked, suites_root
from harness.conformance.catalogue import load_catalogue
from harness.conformance.found_runs import ResultsNotFound
from harness.conformance.gate import (
    GateFinding,
    GateResult,
    ResultsNotWhole,
    gate,
    write_profile,
)
from harness.conformance.headline import as_json as headline_as_json
from harness.conformance.profile import ProfileError, load_profile
from harness.conformance.sarif import as_sarif

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--profile", "profile_file", type=_FILE, help="Known failures (TOML).")
@click.option("--write-profile", "new_profile", type=_FILE, help="Write such a file and stop.")
@click.option("--strict", is_flag=True, help="A SHOULD that does not hold is a failure.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "--annotations", is_flag=True, help="Print each finding as an annotation of GitHub Actions too."
)
@click.option(
    "--sarif", "sarif_file", type=_FILE, help="Write the findings as SARIF 2.1.0, for code hosts."
)
def gate_command(
    results: Path,
    profile_file: Path | None,
    new_profile: Path | None,
    strict: bool,
    as_json: bool,
    annotations: bool,
    sarif_file: Path | None,
) -> None:
    """Judge RESULTS, the folder that `run --out` wrote. Needs neither Spark nor Java.

    \b
    Exit codes: 0 ok, 1 unexpected failure, 2 wrong usage, 3 incomplete run,
                4 a known failure passed, 5 something vanished, 6 an entry expired.
    """
    if as_json and annotations:
        raise click.UsageError("--json prints nothing else: leave --annotations out")
    catalogue = load_catalogue()
    try:
        if new_profile:
            write_profile(results, new_profile, strict=strict)
            click.echo(f"wrote {new_profile}: give each entry its reason")
            return
        profile = load_profile(profile_file, catalogue) if profile_file else None
        found = gate(results, profile, strict=strict, root=suites_root())
        if sarif_file:
            place = (profile_file or results).as_posix()
            text = json.dumps(as_sarif(found, catalogue, version("kafka-conformance"), place))
            sarif_file.write_text(text, "utf-8")
    except FileExistsError as error:
        raise click.UsageError(f"{new_profile} is there already; it is not replaced") from error
    except SuitesNotUnpacked:
        raise
    except (ResultsNotFound, ResultsNotWhole, ProfileError, OSError) as error:
        raise click.UsageError(str(error)) from error
    click.echo(_as_json(found) if as_json else _as_text(found))
    for finding in found.findings if annotations else ():
        click.echo(_annotation(finding))
    sys.exit(found.exit_code)


def _as_text(found: GateResult) -> str:
    lines = []
    for target, run in found.runs.items():
        lines += [f"{target}: {run}", *(f"  {line}" for line in found.headlines[target].lines)]
    lines += [f"known failure: {target} {name}" for target, name in found.known]
    lines += [f"{finding.target or 'all'}: {finding.sentence}" for finding in found.findings]
    return "\n".join([*lines, f"exit {int(found.exit_code)}: {found.sentence}"])


def _annotation(finding: GateFinding) -> str:
    """A workflow command of GitHub Actions, in which some signs have to be escaped."""
    title = " ".join(filter(None, [finding.requirement, finding.target])) or "all"
    escaped = finding.sentence.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::error title={title.replace(',', '%2C').replace(':', '%3A')}::{escaped}"


def _as_json(found: GateResult) -> str:
    findings = [
        {
            "kind": finding.kind.name.lower(),
            "target": finding.target,
            "requirement": finding.requirement,
            "sentence": finding.sentence,
        }
        for finding in found.findings
    ]
    return json.dumps(
        {
            "exit": int(found.exit_code),
            "sentence": found.sentence,
            "runs": found.runs,
            "headlines": {name: headline_as_json(one) for name, one in found.headlines.items()},
            "known": [list(pair) for pair in found.known],
            "findings": findings,
        }
    )

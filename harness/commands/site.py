"""``kafka-conformance site``: a static site of the runs in some folders."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.commands.reported_runs import (
    INCOMPLETE,
    UNREADABLE,
    folders_argument,
    left_out,
    reported_runs,
    wording_of,
)


@click.command("site")
@folders_argument
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the site; an earlier site there is replaced.",
)
@click.option(
    "--url",
    default="",
    metavar="URL",
    help="Where the site will be served, for whole addresses in its feeds.",
)
def site_command(folders: tuple[Path, ...], out: Path, url: str) -> None:
    """Write a site of the runs in DIR...: a page for each target, requirement and API.

    Addresses are permanent; nothing is loaded from other places; the same results give the same
    files. Beside the pages: badges, feeds of changes and SARIF of each target. For each target its
    newest run counts. Needs neither Spark nor Java.

    \b
    Exit codes: 0 written, 2 wrong usage or nothing to show, 3 written, but a run is incomplete.
    """
    from harness.commands.site_given import site_given
    from reports.dataset import find_datasets
    from reports.errors import ReportError
    from reports.site.build import build_site

    if url and not url.startswith(("http://", "https://")):
        raise click.UsageError(f"--url {url}: begin it with https:// or http://")
    try:
        runs = reported_runs(folders)
        find_datasets(list(folders))  # refuses before all sources of tests are read
        paths = build_site(list(folders), out, wording_of(runs), site_given(runs), url)
    except (ReportError, *UNREADABLE) as error:
        raise click.UsageError("\n".join([str(error), *left_out(folders)])) from error
    click.echo(paths.index)
    incomplete = [*paths.incomplete, *runs.unreadable]
    for run in incomplete:
        click.echo(f"incomplete: {run}", err=True)
    sys.exit(INCOMPLETE if incomplete else 0)

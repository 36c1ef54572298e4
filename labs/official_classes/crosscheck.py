"""Our codec against the official Java classes: same values, same bytes.

``python -m labs.official_classes.crosscheck [--release 4.4.0] [--messages 20] [--seed 1]`` prints
the counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from labs.official_classes.control_check import check_control_batches
from labs.official_classes.counts import Count
from labs.official_classes.header_check import check_headers
from labs.official_classes.message_check import check_messages
from labs.official_classes.official import RELEASES, OfficialClasses, compiled
from labs.official_classes.older import OLDER, fetched
from labs.official_classes.record_check import check_batches
from labs.official_classes.refusal_check import check_refusals
from labs.official_classes.rewrite_check import (
    check_compacted,
    check_down_conversion,
    check_up_conversion,
)

DAMAGED_SHARE = 2  # half as many of each damage as of the others: there is one for each codec
REQUESTS_EACH = 3  # whole requests of each version, beside the random headers
CONVERTS_DOWN = "3.9.2"  # the last of its kind
Counts = dict[str, Count]


def crosscheck(releases: Iterable[str], each: int, seed: int) -> Iterator[tuple[str, Counts]]:
    """(release, counts by kind): ``each`` random ones of every version, batch kind and damage."""
    chosen = list(releases)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        newest = folder / "newest"
        path = compiled(RELEASES["4.4.0"], newest)
        for release in chosen:
            if release not in OLDER:
                own = path if release == "4.4.0" else compiled(RELEASES[release], folder / release)
                yield release, _whole(own, release, each, seed)
        older = [release for release in chosen if release in OLDER]
        paths = fetched(older, path, folder) if older else {}
        for release in older:
            with OfficialClasses(paths[release]) as official:
                yield release, check_messages(official, release, each, seed, whole=False)


def _whole(class_path: str, release: str, each: int, seed: int) -> Counts:
    with OfficialClasses(class_path) as official:
        counts = check_messages(official, release, each, seed)
        counts["requests"] = check_headers(official, REQUESTS_EACH, seed)
        counts["record batches"] = check_batches(official, each, seed)
        counts["control batches"] = check_control_batches(official, each, seed)
        counts["compacted batches"] = check_compacted(official, each, seed)
        counts["up-conversions"] = check_up_conversion(official, each, seed)
        if release == CONVERTS_DOWN:
            counts["down-conversions"] = check_down_conversion(official, each, seed)
        counts["damaged batches"] = check_refusals(official, each // DAMAGED_SHARE, seed)
    return counts


@click.command()
@click.option("--release", "releases", multiple=True, default=[*RELEASES, *OLDER])
@click.option("--messages", "each", default=20, show_default=True, help="Of each version and kind.")
@click.option("--seed", default=1, show_default=True)
def main(releases: tuple[str, ...], each: int, seed: int) -> None:
    """All APIs, versions and directions; headers, record batches, data; by default all releases."""
    failed = False
    for release, counts in crosscheck(releases, each, seed):
        for kind, count in counts.items():
            if count.compared or count.problems:
                click.echo(f"{release} {kind}: {count.text()}")
            for problem in count.problems[:20]:
                click.echo(f"  {problem[:400]}")
            failed |= bool(count.problems)
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()

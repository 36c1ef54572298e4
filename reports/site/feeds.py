"""An Atom feed for each target: what changed from run to run (RFC 4287)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from ..matrix import Matrix
from .addresses import feed, target_page
from .given import ChangedRequirement, RunStep, SiteGiven
from .render import SitePages

PROJECT: Final = "urn:kafka-conformance"


@dataclass(frozen=True)
class FeedEntry:
    """One run with changes, or the first."""

    id: str
    title: str
    at: str
    step: RunStep


def write_feeds(pages: SitePages, matrix: Matrix, given: SiteGiven, url: str) -> None:
    """Write the feed of each target that has a run; `url`: where the site is served, or empty."""
    for target in matrix.targets:
        steps = given.steps.get(target, ())
        if not steps:
            continue
        pages.page(
            feed(target),
            "feed.xml",
            target=target,
            id=_id(target),
            updated=steps[-1].at,
            own=_absolute(url, feed(target)),
            page=_absolute(url, target_page(target)),
            entries=feed_entries(target, steps),
        )


def feed_entries(target: str, steps: Sequence[RunStep]) -> list[FeedEntry]:
    """The newest first; a run without changes has none."""
    return [
        FeedEntry(_id(f"{target} {step.run}"), _title(step), step.at, step)
        for step in reversed(steps)
        if step.before is None or step.changes
    ]


def _id(name: str) -> str:
    """The same name has the same id in every build."""
    return uuid5(NAMESPACE_URL, f"{PROJECT}:{name}").urn


def _absolute(url: str, address: str) -> str:
    """Readers of feeds need whole addresses; without a `url` it is one relative to the feed."""
    return f"{url.rstrip('/')}/{address}" if url else f"../{address}"


def _title(step: RunStep) -> str:
    if step.before is None:
        return f"First run {step.run}"
    counts = Counter(_words(change) for change in step.changes)
    return ", ".join(f"{count} {words}" for words, count in counts.items())


def _words(change: ChangedRequirement) -> str:
    return change.kind.replace("_", " ")

"""A change as text: the verdict, what the brokers showed, the errors of clients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from harness.histories.durability import COUNTS
from labs.rolling_changes.commits import CommitStep
from labs.rolling_changes.run import Played
from labs.rolling_changes.shown import Shown, ShownBroker, version_changes


def markdown(played: Played) -> str:
    """Return all of it as Markdown."""
    parts = (
        [f"## {played.change}"],
        _verdict(played),
        _shown(played.shown),
        _changes(played.shown),
        _errors(played),
    )
    return "\n".join(line for part in parts for line in (*part, ""))


def _verdict(played: Played) -> list[str]:
    steps = [event.step for event in played.commits]
    assert played.verdict is not None, "it is judged"
    counts = {name: count(played.verdict.survival) for name, count in COUNTS.items()}
    told = ", ".join(f"{name} {number}" for name, number in counts.items())
    kinds = (CommitStep.ACKNOWLEDGED, CommitStep.REFUSED, CommitStep.FETCHED)
    commits = ", ".join(f"{kind} {steps.count(kind)}" for kind in kinds)
    return [
        f"{played.restarts} restarts. Records: {told}. Commits: {commits}.",
        *(f"- BROKEN: {sentence}" for sentence in played.broken),
    ]


def _shown(stages: Sequence[Shown]) -> list[str]:
    lines = [
        "| stage | controller in Metadata | in DescribeCluster | APIs | finalized features |",
        "|---|---|---|---|---|",
    ]
    for shown in stages:
        each = shown.brokers.values()
        cells = [
            shown.stage,
            " / ".join(_ids(one.controllers) for one in each),
            " / ".join(_ids(one.described) for one in each),
            " / ".join(str(len(one.versions)) for one in each),
            " / ".join(dict.fromkeys(_features(one) for one in each)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids)) or "-"


def _features(one: ShownBroker) -> str:
    return ", ".join(f"{name} {level}" for name, level in sorted(one.features.items())) or "none"


def _changes(stages: Sequence[Shown]) -> list[str]:
    """Return the changes of advertised versions, each with the brokers and stages that have it."""
    found: dict[str, list[str]] = {}
    for before, after in pairwise(stages):
        for node, broker in after.brokers.items():
            if changes := version_changes(before.brokers[node].versions, broker.versions):
                at = found.setdefault("; ".join(changes), [])
                at.append(f"broker {node} ({after.stage})")
    return [f"- {', '.join(at)}: {changes}" for changes, at in found.items()]


def _errors(played: Played) -> list[str]:
    lines = ["| stage | errors of clients without retries |", "|---|---|"]
    for stage, counted in played.errors.items():
        told = ", ".join(f"{number} x {error}" for error, number in sorted(counted.items()))
        lines.append(f"| {stage} | {told or 'none'} |")
    return lines

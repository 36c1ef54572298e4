"""The results of a run of libFuzzer, read from its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

WARMED_UP_MB = 100  # modules and first messages, which a slow machine may get to late in a run
LEAK_MB = 64  # more growth in the second half of a run than caches and the corpus explain
_STATUS = re.compile(
    r"^#(?P<runs>\d+)\t(?P<event>\w+)\s+cov: (?P<edges>\d+) ft: (?P<features>\d+) "
    r"corp: (?P<corpus>\d+)/.*rss: (?P<rss>\d+)Mb",
    re.MULTILINE,
)
_STAT = re.compile(r"^stat::(\w+): +(\d+)", re.MULTILINE)
_HEAD = (
    "| target | minutes | executions | per second | edges | features | corpus | peak RSS, MB "
    "| growth in 2nd half, MB | slowest input, s | crashes, hangs |"
)
_ARTIFACT = re.compile(r"Test unit written to (\S+)")


class Status(NamedTuple):
    """One line of libFuzzer's progress."""

    runs: int
    edges: int
    features: int
    corpus: int


class Summary(NamedTuple):
    """One target's run; ``problems`` is empty when all is well."""

    target: str
    seconds: float
    executions: int
    before: Status
    after: Status
    peak_rss_mb: int
    rss_growth_mb: int
    slowest_s: int
    artifacts: tuple[str, ...]
    problems: tuple[str, ...]


def summarise(
    target: str, log: str, exit_code: int, seconds: float, rss_mb: Sequence[int]
) -> Summary:
    """``rss_mb``: the resident memory, sampled at equal distances over the run."""
    found = list(_STATUS.finditer(log))
    lines = [Status(*(int(one[name]) for name in Status._fields)) for one in found]
    started = [at for at, one in enumerate(found) if one["event"] == "INITED"]
    stats = {name: int(value) for name, value in _STAT.findall(log)}
    nothing = Status(0, 0, 0, 0)
    half = len(rss_mb) // 2
    growth = max(rss_mb[half:], default=0) - max([*rss_mb[: half + 1], WARMED_UP_MB])
    artifacts = tuple(_ARTIFACT.findall(log))
    problems = []
    if exit_code:
        problems.append(f"libFuzzer ended with {exit_code}")
    if not started:
        problems.append("the corpus was never read to its end")
    if growth > LEAK_MB:
        problems.append(f"memory grew by {growth} MB in the second half")
    return Summary(
        target=target,
        seconds=seconds,
        executions=stats.get("number_of_executed_units", 0),
        before=lines[started[0]] if started else nothing,
        after=lines[-1] if lines else nothing,
        peak_rss_mb=stats.get("peak_rss_mb", 0),
        rss_growth_mb=max(growth, 0),
        slowest_s=stats.get("slowest_unit_time_sec", 0),
        artifacts=artifacts,
        problems=tuple(problems),
    )


def as_text(summaries: Sequence[Summary]) -> str:
    """A Markdown table, and the problems under it."""
    lines = [_HEAD, "|---|---|---|---|---|---|---|---|---|---|---|"]
    for one in summaries:
        first, last = one.before, one.after
        lines.append(
            f"| {one.target} | {one.seconds / 60:.1f} | {one.executions} "
            f"| {one.executions / max(one.seconds, 1):.0f} | {first.edges} to {last.edges} "
            f"| {first.features} to {last.features} | {first.corpus} to {last.corpus} "
            f"| {one.peak_rss_mb} | {one.rss_growth_mb} | {one.slowest_s} | {len(one.artifacts)} |"
        )
    seconds, executions = sum(s.seconds for s in summaries), sum(s.executions for s in summaries)
    artifacts = sum(len(s.artifacts) for s in summaries)
    lines.append(f"| all | {seconds / 60:.1f} | {executions} | | | | | | | | {artifacts} |")
    lines += [f"\n{s.target}: {p}" for s in summaries for p in (*s.problems, *s.artifacts)]
    return "\n".join(lines)

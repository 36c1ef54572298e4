"""Results, goals, and what is printed of them."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.proxy.load import BULK_DOWN, BULK_UP, PING

PLAIN, FULL, TOXIPROXY = "ours, plain", "ours, full", "toxiproxy"


@dataclass(frozen=True, slots=True)
class ProxyMeasured:
    """One kind of work. ``rates``: units a second, one a round; ``each_us``: what a unit takes of
    a processor in the process that was connected to. Both by peer.
    """

    work: str
    unit: str
    rates: Mapping[str, list[float]]
    each_us: Mapping[str, float]

    def ratio(self, one: str, other: str) -> float:
        """The median over the rounds."""
        pairs = zip(self.rates[one], self.rates[other], strict=True)
        return median(mine / theirs for mine, theirs in pairs)


@dataclass(frozen=True, slots=True)
class ProxyGoal:
    """The least median ratio of one of our proxies to toxiproxy in one kind of work."""

    work: str
    ours: str
    least: float


GOALS = (
    ProxyGoal(PING, PLAIN, 1.2),
    ProxyGoal(BULK_UP, PLAIN, 1.8),
    ProxyGoal(BULK_DOWN, PLAIN, 1.8),
    ProxyGoal(PING, FULL, 1.0),
    ProxyGoal(BULK_UP, FULL, 1.0),
    ProxyGoal(BULK_DOWN, FULL, 1.0),
)


def reached(measured: Iterable[ProxyMeasured]) -> list[tuple[ProxyGoal, float]]:
    """The goals that can be judged, with what was found."""
    by_work = {one.work: one for one in measured if TOXIPROXY in one.rates}
    return [
        (goal, by_work[goal.work].ratio(goal.ours, TOXIPROXY))
        for goal in GOALS
        if goal.work in by_work
    ]


def markdown(
    measured: list[ProxyMeasured], not_run: Mapping[str, str], notes: Iterable[str]
) -> str:
    """One table a kind of work, what was not run and why, and the goals."""
    lines = [f"machine: {machine()}", ""]
    for one in measured:
        lines += [*_table(one), ""]
    lines += [f"not run: {peer}: {reason}" for peer, reason in not_run.items()]
    lines += [*notes, ""]
    if found := reached(measured):
        lines += ["| goal, against toxiproxy | wanted | found | |", "|---|--:|--:|---|"]
        lines += [
            f"| {goal.ours}: {goal.work} | {goal.least:.2f} | {value:.2f} "
            f"| {'PASS' if value >= goal.least else 'FAIL'} |"
            for goal, value in found
        ]
    return "\n".join(lines).rstrip() + "\n"


def _table(one: ProxyMeasured) -> list[str]:
    lines = [
        f"| {one.work} | {one.unit}/s | processor µs each | to direct | to toxiproxy |",
        "|---|--:|--:|--:|--:|",
    ]
    for peer, rates in one.rates.items():
        theirs = f"{one.ratio(peer, TOXIPROXY):.2f}" if TOXIPROXY in one.rates else "not run"
        lines.append(
            f"| {peer} | {median(rates):,.0f} | {one.each_us[peer]:,.0f} "
            f"| {one.ratio(peer, 'direct'):.2f} | {theirs} |"
        )
    return lines


def as_json(
    measured: list[ProxyMeasured], not_run: Mapping[str, str], notes: Iterable[str]
) -> dict[str, Any]:
    """The same as plain values."""
    goals = [
        {**asdict(goal), "found": value, "ok": value >= goal.least}
        for goal, value in reached(measured)
    ]
    return {
        "machine": machine(),
        "measured": [asdict(one) for one in measured],
        "not_run": dict(not_run),
        "notes": list(notes),
        "goals": goals,
    }


def machine() -> str:
    """The machine of the measurement."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} processors, {platform.system()}, {python}"

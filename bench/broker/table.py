"""Results, and what is printed of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from bench.broker.peers import OURS
from bench.broker.works import GOALS, Goal
from bench.proxy.table import machine


@dataclass(frozen=True, slots=True)
class Measured:
    """One kind of work. ``rates``: units a second, one a round; ``each_us``: what a unit takes of
    a processor in the broker. Both by peer.
    """

    work: str
    unit: str
    rates: Mapping[str, list[float]]
    each_us: Mapping[str, float]

    def ratio(self, peer: str) -> float:
        """Ours to the peer's, the median over the rounds."""
        pairs = zip(self.rates[OURS], self.rates[peer], strict=True)
        return median(mine / theirs for mine, theirs in pairs)

    def processor_ratio(self, peer: str) -> float:
        """Processor time per unit of our broker, divided by the peer's."""
        return self.each_us[OURS] / self.each_us[peer]


@dataclass(frozen=True, slots=True)
class Judged:
    """A goal, and what was found."""

    goal: Goal
    ratio: float
    processor: float

    @property
    def reached(self) -> bool:
        """Both parts of it."""
        enough = self.ratio >= self.goal.least
        return enough and (self.goal.processor is None or self.processor <= self.goal.processor)


def judged(measured: Iterable[Measured]) -> list[Judged]:
    """The goals, each with what was found."""
    by_work = {one.work: one for one in measured}
    return [
        Judged(goal, one.ratio(goal.peer), one.processor_ratio(goal.peer))
        for goal in GOALS
        if (one := by_work.get(goal.work))
    ]


def markdown(measured: list[Measured], notes: Iterable[str]) -> str:
    """One table a kind of work, and the goals."""
    lines = [f"machine: {machine()}", ""]
    for one in measured:
        lines += [
            f"| {one.work} | {one.unit}/s | processor µs each | ours to it |",
            "|---|--:|--:|--:|",
        ]
        lines += [
            f"| {peer} | {median(rates):,.0f} | {one.each_us[peer]:,.2f} | {one.ratio(peer):.2f} |"
            for peer, rates in one.rates.items()
        ]
        lines.append("")
    lines += [
        *notes,
        "",
        "| goal | against | wanted | found | processor | |",
        "|---|---|--:|--:|--:|---|",
    ]
    for one_goal in judged(measured):
        goal = one_goal.goal
        lines.append(
            f"| {goal.work} | {goal.peer} | {goal.least:.2f} | {one_goal.ratio:.2f} "
            f"| {one_goal.processor:.2f} | {'PASS' if one_goal.reached else 'FAIL'} |"
        )
    return "\n".join(lines) + "\n"

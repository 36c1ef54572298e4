"""The results of the rounds, and their table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from bench.proxy.table import machine


@dataclass(frozen=True, slots=True)
class Found:
    """Ratios of our value to the peer's, one a round.

    The median must be at least ``limit`` (``is_least``), or at most. Without a limit the ratio is
    only reported.
    """

    name: str
    peer: str
    ratios: Sequence[float]
    limit: float | None = None
    is_least: bool = True

    @property
    def ratio(self) -> float:
        """The median over the rounds."""
        return median(self.ratios)

    @property
    def reached(self) -> bool:
        """True if the median keeps ``limit``, or if there is no limit."""
        if self.limit is None:
            return True
        return self.ratio >= self.limit if self.is_least else self.ratio <= self.limit


def at_least(limit: float | None, name: str, peer: str, ratios: Sequence[float]) -> Found:
    """More is better: rates."""
    return Found(name, peer, ratios, limit)


def at_most(limit: float | None, name: str, peer: str, ratios: Sequence[float]) -> Found:
    """Less is better: times."""
    return Found(name, peer, ratios, limit, is_least=False)


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Round by round."""
    return [mine / other for mine, other in zip(ours, theirs, strict=True)]


def markdown(found: Iterable[Found], notes: Iterable[str]) -> str:
    """A line for each; ``notes`` before them."""
    lines = [f"machine: {machine()}", "", *(f"- {note}" for note in notes), ""]
    lines += ["| goal | against | wanted | found | rounds | |", "|---|---|--:|--:|---|---|"]
    lines += map(_line, found)
    return "\n".join(lines) + "\n"


def _line(one: Found) -> str:
    wanted, verdict = "", ""
    if one.limit is not None:
        wanted = f"{'>=' if one.is_least else '<='} {one.limit:.2f}"
        verdict = "PASS" if one.reached else "FAIL"
    spread = f"{len(one.ratios)}: {min(one.ratios):.2f} to {max(one.ratios):.2f}"
    return f"| {one.name} | {one.peer} | {wanted} | {one.ratio:.2f} | {spread} | {verdict} |"

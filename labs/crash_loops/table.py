"""All rounds of some cases as a table with one row per case."""

from __future__ import annotations

from dataclasses import dataclass

from harness.histories.durability import COUNTS
from labs.crash_loops.cases import LEADER, CrashCase
from labs.crash_loops.rounds import Round

COLUMNS = (
    "case",
    "rounds",
    "kills",
    *COUNTS,
    "allowed",
    "lost of acks=all",
    "broken",
    "may be lost",
)


@dataclass(frozen=True, slots=True)
class Loop:
    """One case of one target; ``seconds``: of all."""

    case: CrashCase
    rounds: list[Round]
    seconds: float

    @property
    def good(self) -> bool:
        """True if every round was judged and none has a violation."""
        return bool(self.rounds) and all(r.verdict and not r.broken for r in self.rounds)

    @property
    def cells(self) -> list[str]:
        """The cells of the row."""
        verdicts = [each.verdict for each in self.rounds if each.verdict is not None]
        counts = [sum(count(v.survival) for v in verdicts) for count in COUNTS.values()]
        numbers = [
            len(self.rounds),
            sum(each.kills for each in self.rounds),
            *counts,
            sum(each.allowed for each in verdicts),
            sum(one.process != LEADER for each in verdicts for one in each.survival.lost),
            sum(bool(each.broken) for each in self.rounds),
        ]
        return [self.case.name, *map(str, numbers), self.case.says]


def markdown(target: str, loops: list[Loop]) -> str:
    """Return the table, followed by the violations of each round."""
    lines = [
        f"`{target}`:",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
        *(f"| {' | '.join(loop.cells)} |" for loop in loops),
        "",
    ]
    for loop in loops:
        for each in loop.rounds:
            lines += [f"- {loop.case.name}, {each.seed}: {words}" for words in each.broken]
    seconds = sum(loop.seconds for loop in loops)
    back = max((each.back_s for loop in loops for each in loop.rounds), default=0.0)
    lines += [f"{seconds:.0f} s; all was acknowledged again after {back:.1f} s at most."]
    return "\n".join(lines) + "\n"

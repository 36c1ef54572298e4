"""All cases of a run as a page, and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labs.recovery.comparison import ComparedCopies, what_became

JSON_VERSION = 1
COLUMNS = ("damage", "cases", "same", "explained", "differ", "what becomes of the log, left")
_VERDICTS = ("same", "explained", "differs")


@dataclass(frozen=True, slots=True)
class RecoveryTable:
    """``starts``: of both brokers, ``seconds``: of all."""

    left: str
    right: str
    seed: int
    compared: Sequence[ComparedCopies]
    starts: tuple[int, int]
    seconds: float

    @property
    def good(self) -> bool:
        return all(each.verdict != "differs" for each in self.compared)

    @property
    def _kinds(self) -> list[str]:
        return sorted({each.case.kind.name for each in self.compared})

    def markdown(self) -> str:
        """A row a kind, then every difference with its case."""
        lines = [
            f"# Recovery of the same damage: `{self.left}` and `{self.right}`, seed {self.seed}",
            "",
            f"| {' | '.join(COLUMNS)} |",
            "|---" * len(COLUMNS) + "|",
            *(self._row(kind, self._of(kind)) for kind in self._kinds),
            self._row("all", self.compared, tells=False),
            "",
            *(f"- {each.told()}" for each in self.compared if each.verdict != "same"),
            "",
            self._effort,
        ]
        return "\n".join(lines) + "\n"

    @property
    def _effort(self) -> str:
        starts = " and ".join(map(str, self.starts))
        return f"{len(self.compared)} cases in {self.seconds:.0f} s; starts: {starts}."

    def _of(self, kind: str) -> list[ComparedCopies]:
        return [each for each in self.compared if each.case.kind.name == kind]

    def _row(self, name: str, some: Sequence[ComparedCopies], *, tells: bool = True) -> str:
        verdicts = Counter(each.verdict for each in some)
        cells = [name, len(some), *(verdicts[one] for one in _VERDICTS), _became(some) * tells]
        return f"| {' | '.join(map(str, cells))} |"

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": JSON_VERSION,
            "left": self.left,
            "right": self.right,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "cases": [
                {
                    "number": each.case.number,
                    "kind": each.case.kind.name,
                    "source": each.case.source.name,
                    "end": each.case.source.end_offset,
                    "clean": each.case.clean,
                    "from_zero": each.case.from_zero,
                    "damage": each.damage.says,
                    "struck": each.damage.offset,
                    "verdict": each.verdict,
                    "left": each.left,
                    "right": each.right,
                }
                for each in self.compared
            ],
        }


def _became(some: Sequence[ComparedCopies]) -> str:
    """With and without the marker, as they are not recovered alike."""
    parts = []
    for clean, called in ((False, ""), (True, "marker: ")):
        found = Counter(
            what_became(each.case, each.damage, each.left)
            for each in some
            if each.case.clean is clean
        )
        told = "; ".join(f"{count} {what}" for what, count in found.most_common())
        parts += [f"{called}{told}"] if told else []
    return " / ".join(parts)

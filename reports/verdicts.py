"""The seven verdicts, worst first, as a reader of a report meets them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from .errors import ReportError

LEVELS: Final = ("MUST", "SHOULD", "MAY")


@dataclass(frozen=True)
class VerdictWord:
    """One verdict: its name in the data, a sign beside the word, and what it says to a reader."""

    name: str
    sign: str
    meaning: str

    @property
    def words(self) -> str:
        return self.name.replace("_", " ")


WORST_FIRST: Final = (
    VerdictWord(
        "harness_error",
        "‼",
        "The harness itself went wrong. It says nothing about the broker, and is never green.",
    ),
    VerdictWord("failed", "✗", "The broker broke the requirement; the reason says how."),
    VerdictWord(
        "inconclusive",
        "?",
        "The test couldn't decide, for example because an earlier check of it failed.",
    ),
    VerdictWord("warning", "!", "A SHOULD that this broker doesn't hold. Legal, but unusual."),
    VerdictWord("passed", "✓", "Asked and kept."),
    VerdictWord(
        "not_applicable",
        "○",
        "This target doesn't let us ask: a capability is missing, which is named.",
    ),
    VerdictWord(
        "not_supported",
        "–",
        "The broker's own ApiVersions answer says that it doesn't have this API or version, or its "
        "release doesn't promise this, yet or any more; the reason says which.",
    ),
)

NOT_RUN: Final = VerdictWord(
    "not_run", "·", "The run that counts for this target holds no check of this requirement."
)

RANKS: Final = {word.name: rank for rank, word in enumerate(WORST_FIRST, start=1)}
"""By verdict; 1 is the worst."""
BY_NAME: Final = {word.name: word for word in WORST_FIRST}
QUIET: Final = frozenset({"passed", "not_supported", "not_applicable"})
_NAMED = 5


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of the verdicts; at least one is needed."""
    return min(verdicts, key=RANKS.__getitem__)


def refuse_unknown_verdicts(found: Iterable[tuple[str, str | None]], where: str) -> None:
    """``found``: run and verdict. Raises ReportError for one that is not of the seven."""
    unknown = sorted({(run, str(said)) for run, said in found if said not in BY_NAME})
    if unknown:
        named = ", ".join(f"{said!r} in run {run}" for run, said in unknown[:_NAMED])
        raise ReportError(
            f"the results hold a verdict that doesn't exist: {named}",
            where,
            f"verdicts are {', '.join(BY_NAME)}; use the release of kafka-conformance that wrote "
            "the results",
        )

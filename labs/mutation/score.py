"""The score of a run: how many mutants were noticed, by verdict, operator and module.

Equivalent mutants are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from labs.mutation.equivalent import MOST_SHARE
from labs.mutation.mutant import Mutant
from labs.mutation.verdicts import NOTICED, Fate, JudgedMutant

CHANGE_CHARACTERS, REASON_CHARACTERS = 120, 100


def line_of(one: JudgedMutant) -> str:
    """Return a line of text about a mutant."""
    change = f"{one.mutant.before} -> {one.mutant.after}".replace("\n", " ")
    why = f" {one.requirement}: {one.reason[:REASON_CHARACTERS]}" if one.requirement else ""
    text = f"{one.verdict.name} {one.mutant.name} {one.mutant.function}"
    return f"{text} ({change[:CHANGE_CHARACTERS]}){why}".replace("\n", " ")


def summary(judged: Sequence[JudgedMutant], seconds: float) -> Iterator[str]:
    """Yield the score as lines of text."""
    counts = Counter(one.verdict for one in judged)
    yield f"{_score(judged)} noticed in {seconds:.0f} s"
    yield from (f"  {verdict.value}: {counts[verdict]}" for verdict in Fate if counts[verdict])
    if counts[Fate.EQUIVALENT] > MOST_SHARE * len(judged):
        yield f"  more than {MOST_SHARE:.0%} are equivalent: review the list, or the operators"
    yield from _by("operator", judged, lambda mutant: mutant.operator)
    yield from _by("module", judged, lambda mutant: ".".join(mutant.area_path.split(".")[:2]))


def _by(title: str, judged: Sequence[JudgedMutant], key: Callable[[Mutant], str]) -> Iterator[str]:
    yield f"by {title}:"
    for name in sorted({key(one.mutant) for one in judged}):
        own = [one for one in judged if key(one.mutant) == name]
        yield f"  {name}: {_score(own)}"


def _score(judged: Sequence[JudgedMutant]) -> str:
    counted = [one for one in judged if one.verdict is not Fate.EQUIVALENT]
    return f"{sum(one.verdict in NOTICED for one in counted)} of {len(counted)}"

"""Does a broker that is made like a release come to the verdicts of that release?

Differences that are known are named in a TOML file::

    differences_version = 1

    [[difference]]
    requirement = "TOPIC-031"
    releases = ["2.8.2"]
    reason = "the fault of the release that its profile names"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from harness.conformance.catalogue import Catalogue, UnknownRequirementError
from harness.conformance.dated import UNDATED
from harness.conformance.summary import RequirementSummary, RunSummary
from harness.conformance.toml_entry import load_table
from harness.conformance.verdict import Verdict

DIFFERENCES_VERSION = 1
Named = Mapping[tuple[str, str], str]
"""(requirement, release) to the reason of a known difference."""


class DifferencesError(ValueError):
    """A file of named differences is wrong; the message says which file, which entry and what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictDifference:
    """One requirement on which the two sides disagree; a verdict is None without a check.

    Attributes:
        said: the first reason of the side that does not pass.
        reason: the known explanation; empty when there is none.
    """

    requirement: str
    like: Verdict | None
    real: Verdict | None
    said: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAgreement:
    """One release: the broker that is like it, and the real one.

    Attributes:
        same: requirements with the same verdict.
        needless: named differences where there is none.
        defects: why one of the runs decides less than it should.
    """

    release: str
    same: int
    differences: tuple[VerdictDifference, ...]
    needless: tuple[str, ...]
    defects: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Both runs are whole, and every difference is named, and no name is needless."""
        return not self.defects and not self.needless and all(d.reason for d in self.differences)


def agree(release: str, like: RunSummary, real: RunSummary, named: Named) -> ReleaseAgreement:
    """Compare requirement by requirement, those that both sides let us ask."""
    every = sorted(set(like.requirements) | set(real.requirements))
    names = [name for name in every if _can_be_asked(like, name) and _can_be_asked(real, name)]
    pairs = {name: (_verdict(like, name), _verdict(real, name)) for name in names}
    differ = [name for name, (one, other) in pairs.items() if one is not other]
    return ReleaseAgreement(
        release=release,
        same=len(names) - len(differ),
        differences=tuple(
            VerdictDifference(
                requirement=name,
                like=pairs[name][0],
                real=pairs[name][1],
                said=_said(like, name) or _said(real, name),
                reason=named.get((name, release), ""),
            )
            for name in differ
        ),
        needless=tuple(
            sorted(n for n, r in named if r == release and n in pairs and n not in differ)
        ),
        defects=tuple(_defects(like, real)),
    )


def flips(summaries: Sequence[tuple[RunSummary, RunSummary]], catalogue: Catalogue) -> Counter[str]:
    """Count the dated requirements that change between neighbours in ``summaries``, by side.

    Each pair is (like, real) of one release, the oldest first. Counted under "both", "like" and
    "real"; a change is from passed to another verdict or back.
    """
    counts: Counter[str] = Counter({"both": 0, "like": 0, "real": 0})
    dated = [one.id for one in catalogue.requirements.values() if one.since != UNDATED or one.until]
    for (like, real), (next_like, next_real) in pairwise(summaries):
        for name in dated:
            if not all(_can_be_asked(one, name) for one in (like, real, next_like, next_real)):
                continue
            flipped = _passed(like, name) != _passed(next_like, name)
            really = _passed(real, name) != _passed(next_real, name)
            if flipped or really:
                counts["both" if flipped and really else "like" if flipped else "real"] += 1
    return counts


def load_differences(path: Path, catalogue: Catalogue, releases: Sequence[str]) -> Named:
    """Read the file; raises DifferencesError."""
    whole = load_table(path, DifferencesError)
    whole.fixed("differences_version", DIFFERENCES_VERSION)
    named: dict[tuple[str, str], str] = {}
    for entry in whole.optional_entries("difference"):
        requirement = entry.text("requirement")
        entry.named(requirement)
        try:
            catalogue.requirement(requirement)
        except UnknownRequirementError as error:
            raise DifferencesError(f"{entry.where}: {error}") from error
        reason = entry.text("reason")
        for release in entry.texts("releases", among=releases):
            if (requirement, release) in named:
                raise DifferencesError(f"{entry.where}: {requirement} of {release} is named twice")
            named[requirement, release] = reason
        entry.finish()
    whole.finish()
    return named


def _verdict(summary: RunSummary, name: str) -> Verdict | None:
    found = summary.requirements.get(name)
    return found.verdict if found else None


def _can_be_asked(summary: RunSummary, name: str) -> bool:
    return _verdict(summary, name) is not Verdict.NOT_APPLICABLE


def _passed(summary: RunSummary, name: str) -> bool:
    return _verdict(summary, name) is Verdict.PASSED


def _said(summary: RunSummary, name: str) -> str:
    found: RequirementSummary | None = summary.requirements.get(name)
    if found is None or found.verdict is Verdict.PASSED:
        return ""
    own = [check for check in found.checks if check.verdict is found.verdict and check.reason]
    return f"{own[0].case}: {own[0].text.splitlines()[0]}" if own else ""


def _defects(like: RunSummary, real: RunSummary) -> Iterator[str]:
    for summary in (like, real):
        if not summary.complete or summary.counts[Verdict.HARNESS_ERROR]:
            yield f"{summary.header.target}: {' '.join(summary.sentences())}"

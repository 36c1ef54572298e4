"""The seven verdicts and how several of them join into one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What one check, or a whole requirement, came to.

    The members stand in joining order: the worst first.
    """

    HARNESS_ERROR = "harness_error"
    """We failed: nothing was learned about the broker, and the run is not whole."""
    FAILED = "failed"
    """A MUST does not hold."""
    INCONCLUSIVE = "inconclusive"
    """Asked, and the answer proves nothing."""
    WARNING = "warning"
    """A SHOULD does not hold."""
    PASSED = "passed"
    """The promise was observed to hold (or it is a MAY, where both ways conform)."""
    NOT_APPLICABLE = "not_applicable"
    """This target does not let us ask; the missing capability is named."""
    NOT_SUPPORTED = "not_supported"
    """The broker itself says so, in its ApiVersions answer; or it is a released Apache Kafka that
    does not promise it, see `harness.conformance.dated`."""


_BADNESS = {verdict: -place for place, verdict in enumerate(Verdict)}

JUDGED = frozenset(Verdict) - {Verdict.NOT_SUPPORTED, Verdict.NOT_APPLICABLE}
"""The verdicts that come from having asked the broker."""

BROKEN = frozenset({Verdict.FAILED, Verdict.WARNING})
"""The verdicts that say: the promise does not hold."""

DECIDED = BROKEN | {Verdict.PASSED}
"""The verdicts that say whether the promise holds."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Join verdicts: the worst one stands for all.

    A requirement that passed at some API versions and is unsupported at others joins to passed. One
    that could not be asked at some and is unsupported at others joins to not applicable: that the
    broker lacks it would be too much said.

    Raises:
        ValueError: there is nothing to join; what did not run has no verdict.
    """
    joined = max(verdicts, key=_BADNESS.__getitem__, default=None)
    if joined is None:
        raise ValueError("no verdicts to join: a requirement without any check has no verdict")
    return joined

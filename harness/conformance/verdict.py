"""The seven verdicts and how several of them join into one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The result of one check, or of a whole requirement.

    The members stand in joining order: the worst first.
    """

    HARNESS_ERROR = "harness_error"
    """The suite failed: nothing was learned about the broker, and the run is not whole."""
    FAILED = "failed"
    """A MUST does not hold."""
    INCONCLUSIVE = "inconclusive"
    """The broker answered, and the answer proves nothing."""
    WARNING = "warning"
    """A SHOULD does not hold."""
    PASSED = "passed"
    """The requirement was observed to hold (or it is a MAY, where both behaviours conform)."""
    NOT_APPLICABLE = "not_applicable"
    """The target lacks a capability; the missing capability is named."""
    NOT_SUPPORTED = "not_supported"
    """The broker's ApiVersions lacks it, or this release of Apache Kafka need not keep it.

    For releases see `harness.conformance.dated`.
    """


_BADNESS = {verdict: -place for place, verdict in enumerate(Verdict)}

JUDGED = frozenset(Verdict) - {Verdict.NOT_SUPPORTED, Verdict.NOT_APPLICABLE}
"""The verdicts that follow from requests to the broker."""

BROKEN = frozenset({Verdict.FAILED, Verdict.WARNING})
"""The verdicts for a requirement that does not hold."""

DECIDED = BROKEN | {Verdict.PASSED}
"""The verdicts that decide whether the requirement holds."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Join verdicts: the worst one stands for all.

    A requirement that passed at some API versions and is unsupported at others joins to passed. One
    that is not applicable at some and unsupported at others joins to not applicable, since the
    tests did not show that the broker lacks it.

    Raises:
        ValueError: there is nothing to join; a check that did not run has no verdict.
    """
    joined = max(verdicts, key=_BADNESS.__getitem__, default=None)
    if joined is None:
        raise ValueError("no verdicts to join: a requirement without any check has no verdict")
    return joined

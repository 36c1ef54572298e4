"""Several runs of one broker, in different set-ups, as one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.conformance.summary import RunSummary, counts_by_verdict, joined_checks


def joined(runs: Sequence[RunSummary]) -> RunSummary:
    """Join the runs: each requirement has the checks of all runs, and their worst verdict.

    What one set-up cannot show (not applicable, not supported) does not count against what another
    one shows, see :func:`harness.conformance.verdict.worst`. The header is that of the first run,
    the defect that of the first run with one.

    Raises ValueError: there is no run.
    """
    if not runs:
        raise ValueError("no runs to join")
    names = sorted({name for run in runs for name in run.requirements})
    requirements = {
        name: joined_checks(
            [each for run in runs if (one := run.requirements.get(name)) for each in one.checks]
        )
        for name in names
    }
    return replace(
        runs[0],
        requirements=requirements,
        counts=counts_by_verdict(requirements),
        missing=tuple(pair for run in runs for pair in run.missing),
        retried=tuple(sorted({pair for run in runs for pair in run.retried})),
        defect=next((run.defect for run in runs if run.defect is not None), None),
        ended_at_first_contact=any(run.ended_at_first_contact for run in runs),
    )

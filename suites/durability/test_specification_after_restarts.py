"""SPEC: responses of a broker that was restarted, in seeded conversations."""

from __future__ import annotations

from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.runner.restarted_specification import RestartedJudge
from suites.durability.support.brief_sessions import BRIEF


@judges("SPEC-038")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_responds_as_specification_after_restarts(restarted_judge: RestartedJudge) -> None:
    """After a stop, and after a kill."""
    restarted_judge.across_restarts("SPEC-038")

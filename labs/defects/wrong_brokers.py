"""The built-in broker with a wrong function in it, in place of the target.

Private brokers of the tests are such brokers too. They keep their logs in files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.targets.reference import COMMAND, ReferenceBroker
from harness.targets.reference_cluster import ReferenceCluster
from harness.targets.spec import parse_target
from harness.targets.target import Target

MODULE = "labs.defects.wrong_broker"
SOON_AGAIN = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500"}
"""A killed broker may register again when its session is over. On a busy disk a live broker must
not lose its session.
"""
NEVER_NOTED = {"replica.high.watermark.checkpoint.interval.ms": "600000"}
"""Only tests that demand it have high watermarks noted, so that chance has no part in it."""


def command_of(defect: str) -> tuple[str, ...]:
    """The command that runs the broker with this defect in it, or the right one."""
    return (sys.executable, "-m", MODULE, defect, "--port", "0") if defect else COMMAND


def wrong_target(spec: str, defect: str, log_dir: Path | None) -> Target:
    """The target of this string, with the defect of that name, or right if there is none."""
    command, like = command_of(defect), parse_target(spec, log_dir=log_dir)
    if isinstance(like, ReferenceCluster):
        return ReferenceCluster(like.brokers, log_dir=log_dir, command=command)
    settings = {**SOON_AGAIN, **NEVER_NOTED}
    return ReferenceBroker(log_dir=log_dir, settings=settings, on_disk=True, command=command)

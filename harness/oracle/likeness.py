"""The release that the specification is like, for a target."""

from __future__ import annotations

from harness.conformance.dated import APACHE_KAFKA
from harness.conformance.outcome import NotApplicable
from harness.targets.access_file import NEVER
from harness.targets.info import TargetInfo
from harness.targets.reference import ReferenceBroker

RELEASES = ("3.9.2", "4.4.0")
"""Releases of Apache Kafka that agreed with the specification; docs/differential.md has the runs.

The last one is what every other product is compared with.
"""
SET = ",set."
"""In the spec of a target with other settings than its kind has."""
CAPABILITY = "specification"
"""The missing capability, in a record, of a target that the specification is not like."""


def likeness_of(info: TargetInfo) -> str:
    """Return the release for ``like=``, empty for none. Raises NotApplicable."""
    if len(info.nodes) > 1:
        raise NotApplicable(CAPABILITY, "the specification is a single broker")
    if NEVER not in info.safety:
        raise NotApplicable(CAPABILITY, "the settings of a broker elsewhere are not known")
    if SET in info.spec:
        raise NotApplicable(CAPABILITY, "the specification has the default settings")
    if info.implementation == ReferenceBroker.implementation:
        return info.like
    if info.implementation != APACHE_KAFKA:
        return RELEASES[-1]
    if info.zookeeper is not None:
        raise NotApplicable(CAPABILITY, "the specification is like brokers without a ZooKeeper")
    if info.release not in RELEASES:
        raise NotApplicable(CAPABILITY, f"the specification is like {', '.join(RELEASES)} only")
    return info.release

"""The specification for a target: the release that it is like, and its settings."""

from __future__ import annotations

from dataclasses import dataclass

from harness.conformance.dated import APACHE_KAFKA
from harness.conformance.harmless_requests import Safety
from harness.conformance.outcome import NotApplicable
from harness.targets.access_file import NEVER
from harness.targets.info import TargetInfo
from harness.targets.reference import ReferenceBroker
from harness.targets.target import CREATE_TOPICS

RELEASES = ("0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2", "3.9.2", "4.4.0")
"""Releases of Apache Kafka that agreed with the specification; docs/differential.md has the runs.

The last one is what every other product is compared with.
"""
_WITH_ZOOKEEPER = frozenset({"0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2"})
"""Those of them whose controller keeps its data there."""
SET = ",set."
"""In the spec of a target with other settings than its kind has."""
CAPABILITY = "specification"
"""The missing capability, in a record, of a target that the specification is not like."""
_NEEDED = {str(Safety.READ), str(Safety.OWN_NAMES)}


@dataclass(frozen=True, slots=True)
class Likeness:
    """The specification that a target needs.

    Attributes:
        like: the release for ``like=``, empty for none.
        compared_as: the target's spec for the explained differences. A broker at a given address
            may be an Apache Kafka: the differences explained for Kafka hold for it too.
        is_elsewhere: the broker was not started here: its settings must be read, and it may have
            other clients.
    """

    like: str
    compared_as: str
    is_elsewhere: bool = False


def likeness_of(info: TargetInfo) -> Likeness:
    """Return the likeness. Raises NotApplicable where the specification cannot be like it."""
    if len(info.nodes) > 1 or len(info.addresses) > 1:
        raise NotApplicable(CAPABILITY, "the specification is a single broker")
    if SET in info.spec:
        raise NotApplicable(CAPABILITY, "the specification has the default settings")
    if info.zookeeper is not None and info.release not in _WITH_ZOOKEEPER:
        raise NotApplicable(CAPABILITY, "the specification is like brokers without a ZooKeeper")
    if is_elsewhere(info):
        release = _release_of(info)
        return Likeness(release, f"kafka:{release}", is_elsewhere=True)
    if info.implementation == ReferenceBroker.implementation:
        return Likeness(info.like, info.spec)
    return Likeness(_release_of(info), info.spec)


def is_elsewhere(info: TargetInfo) -> bool:
    """True if the target was not started here.

    Raises NotApplicable if such a target may not get conversations with objects of their own.
    """
    if NEVER in info.safety:
        return False
    if not (info.safety >= _NEEDED and CREATE_TOPICS in info.capabilities):
        raise NotApplicable(CAPABILITY, "the conversations make topics and groups of their own")
    return True


def _release_of(info: TargetInfo) -> str:
    if info.implementation != APACHE_KAFKA:
        return RELEASES[-1]
    if info.release not in RELEASES:
        raise NotApplicable(CAPABILITY, f"the specification is like {', '.join(RELEASES)} only")
    return info.release

"""Requirements by date: those that a released Apache Kafka does not keep yet, or not any more.

The catalogue has for each requirement the releases since when and until when Apache Kafka keeps it,
and the releases between these that do not.
If a check does not hold on a release outside of these dates, it violates nothing: it is recorded as
``not_supported``, with the observation. If it holds nevertheless, it has passed; then the dates in
the catalogue may be wrong. Other products, and builds that are no release, must keep all current
requirements of the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TypeAlias

from harness.conformance.catalogue import Catalogue, Requirement
from harness.conformance.dated_reason import SINCE, UNTIL, DatedReason
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import BROKEN, Verdict

APACHE_KAFKA = "Apache Kafka"
UNDATED = "-"
"""``since`` of a requirement that no release began to keep."""

ReleaseNumbers: TypeAlias = tuple[int, ...]

_RELEASE = re.compile(r"\d+(?:\.\d+)+")


def release_numbers(release: str) -> ReleaseNumbers | None:
    """``0.10.0.1`` -> (0, 10, 0, 1); None for what is no release (``4.4.0-SNAPSHOT``, ``?``)."""
    if _RELEASE.fullmatch(release) is None:
        return None
    return tuple(int(word) for word in release.split("."))


def release_line(text: str) -> ReleaseNumbers:
    """The numbers that all releases of a line share: ``2.4`` -> (2, 4), ``3.x`` -> (3,)."""
    return tuple(int(word) for word in takewhile(str.isdigit, text.split(".")))


def why_not_promised(requirement: Requirement, release: str) -> str | None:
    """Return the reason why Apache Kafka ``release`` need not keep this; None when it must.

    ``since = "2.4"`` begins with the first 2.4.x, ``since = "2.x"`` with the first 2.x; ``until =
    "3.x"`` ends with the last 3.x; ``not_in = ["4.0.0"]`` leaves out one release. A release without
    numbers must keep everything.
    """
    numbers = release_numbers(release)
    if numbers is None:
        return None
    if requirement.since != UNDATED:
        first = release_line(requirement.since)
        if numbers[: len(first)] < first:
            return DatedReason(SINCE, requirement.since).text(release)
    if requirement.until is not None:
        last = release_line(requirement.until)
        if numbers[: len(last)] > last:
            return DatedReason(UNTIL, requirement.until).text(release)
    if release in requirement.not_in:
        return DatedReason(SINCE, requirement.since, left_out=release).text(release)
    return None


def by_date(
    records: Sequence[CheckRecord],
    *,
    implementation: str,
    release: str,
    catalogue: Catalogue,
    newer: str = "",
    undecided: bool = False,
) -> list[CheckRecord]:
    """Return the records of one case, with not_supported where this release need not keep it.

    Args:
        implementation, release: the product and release of the target; anything but a released
            Apache Kafka must keep the whole catalogue.
        newer: the release of those nodes of a cluster that are upgraded already, empty for none:
            the cluster must keep what both releases must.
        undecided: the test itself decided nothing. Its inconclusive records stay; without it they
            follow from the broker's behaviour, and count as not holding.

    Passed stays passed, and a harness_error stays a harness_error.
    """
    if implementation != APACHE_KAFKA or release_numbers(release) is None:
        return list(records)
    turned = BROKEN if undecided else BROKEN | {Verdict.INCONCLUSIVE}
    releases = [each for each in (release, newer) if each]
    return list(_dated(records, releases, catalogue, turned))


def _dated(
    records: Sequence[CheckRecord],
    releases: Sequence[str],
    catalogue: Catalogue,
    turned: frozenset[Verdict],
) -> Iterable[CheckRecord]:
    for record in records:
        requirement = catalogue.requirement(record.requirement)
        reasons = (why_not_promised(requirement, release) for release in releases)
        why = next((reason for reason in reasons if reason is not None), None)
        if why is None or record.verdict not in turned:
            yield record
        else:
            reason = f"{why}: {record.reason}"
            yield replace(record, verdict=Verdict.NOT_SUPPORTED, reason=reason)

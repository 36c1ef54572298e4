"""Promises by date: what a released Apache Kafka does not promise yet, or not any more.

The catalogue says of each requirement since when and until when Apache Kafka keeps it. A check
that does not hold on a release outside of these dates breaks no promise: it is recorded
``not_supported``, with what was seen. Where it holds all the same, it has passed: that is news for
whoever dates the promise. Other products, and builds that are no release, are held to everything
that the catalogue says today.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TypeAlias

from harness.conformance.catalogue import Catalogue, Requirement
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
    """Say that Apache Kafka ``release`` does not promise this; None when it does.

    ``since = "2.4"`` begins with the first 2.4.x, ``since = "2.x"`` with the first 2.x;
    ``until = "3.x"`` ends with the last 3.x. A release without numbers promises everything.
    """
    numbers = release_numbers(release)
    if numbers is None:
        return None
    if requirement.since != UNDATED:
        first = release_line(requirement.since)
        if numbers[: len(first)] < first:
            return f"promised since {requirement.since}; this is {release}"
    if requirement.until is not None:
        last = release_line(requirement.until)
        if numbers[: len(last)] > last:
            return f"promised until {requirement.until}; this is {release}"
    return None


def by_date(
    records: Sequence[CheckRecord],
    *,
    implementation: str,
    release: str,
    catalogue: Catalogue,
    undecided: bool = False,
) -> list[CheckRecord]:
    """The records of one case, those that break no promise of this release not_supported.

    Args:
        implementation, release: what the target turned out to be; anything but a released Apache
            Kafka is held to the catalogue as it stands.
        undecided: the test itself said that it can decide nothing. Its inconclusive records stay;
            others follow from what the broker did, and count as not holding.

    Passed stays passed, and a harness_error stays what it is.
    """
    if implementation != APACHE_KAFKA or release_numbers(release) is None:
        return list(records)
    turned = BROKEN if undecided else BROKEN | {Verdict.INCONCLUSIVE}
    return list(_dated(records, release, catalogue, turned))


def _dated(
    records: Sequence[CheckRecord], release: str, catalogue: Catalogue, turned: frozenset[Verdict]
) -> Iterable[CheckRecord]:
    for record in records:
        why = why_not_promised(catalogue.requirement(record.requirement), release)
        if why is None or record.verdict not in turned:
            yield record
        else:
            reason = f"{why}: {record.reason}"
            yield replace(record, verdict=Verdict.NOT_SUPPORTED, reason=reason)

"""Cases that end because the user of the run lacks a right: not applicable, with the right.

A cluster that others run refuses what its ACLs do not allow, and is right to do so. What a case
observed after such a refusal proves nothing about the broker. Whether a refusal counts, by where it
came:

| the refusal came | it counts for |
|---|---|
| within a subtest | that subtest alone |
| elsewhere in the case, as in its preparation | every check and subtest that ends later |
| at a part of a request that was served | the checks of that API alone, by the two rules above |

A check for which a refusal counts is not applicable if it did not pass. So is what a check of the
case left undecided, once no check of it fails for another reason. A check that passed has passed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from harness.conformance.record import CheckRecord
from harness.conformance.verdict import BROKEN, Verdict

LACKING = "a right of the user: "
"""Begins the name of a capability that consists of rights."""
_BETWEEN = "; "
_ONE = re.compile(r"(\S+) on (\S+) (.*)", re.DOTALL)
_TURNED = BROKEN | {Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR}


class MissingRight(NamedTuple):
    """An operation on a resource, in the words of Kafka's ACLs.

    ``name``: of the resource, or a prefix with ``*`` behind it: every name of the run begins so.
    """

    operation: str
    resource: str
    name: str

    def __str__(self) -> str:
        return f"{self.operation} on {self.resource} {self.name}"


@dataclass(frozen=True, slots=True)
class RightRefused:
    """A request of the run's user that the broker refused for a missing right.

    Attributes:
        right: the one that the request needs.
        at_s: seconds since the epoch.
        only_api: the API key of the checks that it concerns, where the rest of the request was
            served; None: all checks.
    """

    right: MissingRight
    at_s: float
    only_api: int | None = None


class _Span(NamedTuple):
    """When a check began and ended, in seconds since the epoch."""

    begin_s: float
    end_s: float

    @classmethod
    def of(cls, record: CheckRecord) -> _Span:
        end_s = datetime.fromisoformat(record.at).timestamp()
        return cls(end_s - record.duration_ms / 1000, end_s)


def capability_of(rights: Iterable[MissingRight]) -> str:
    """The name of the capability that a target lacks if its user lacks these rights."""
    return LACKING + _BETWEEN.join(sorted({str(right) for right in rights}))


def rights_in(capability: str) -> tuple[MissingRight, ...]:
    """The rights that the name of a capability names; none if it is another capability."""
    if not capability.startswith(LACKING):
        return ()
    found = (_ONE.fullmatch(text) for text in capability.removeprefix(LACKING).split(_BETWEEN))
    return tuple(MissingRight(*one.groups()) for one in found if one is not None)


def by_rights(
    records: Sequence[CheckRecord], refusals: Sequence[RightRefused], declared: Collection[str]
) -> list[CheckRecord]:
    """Return the records of one case, not applicable where a missing right decided them.

    Args:
        refusals: of the requests that the run's user sent for the case.
        declared: the requirements that the case judges; others stay as they are.
    """
    if not refusals:
        return list(records)
    owners = list(_owners(records, refusals))
    turned = [
        _turned(record, [one for one, owner in owners if _counts(one, owner, record)])
        if record.requirement in declared
        else record
        for record in records
    ]
    if any(record.verdict in BROKEN for record in turned):
        return turned
    return [_turned(one, refusals) if one.requirement in declared else one for one in turned]


def _owners(
    records: Sequence[CheckRecord], refusals: Sequence[RightRefused]
) -> Iterator[tuple[RightRefused, CheckRecord | None]]:
    """Each refusal with the subtest within which it came."""
    subtests = [(_Span.of(record), record) for record in records if record.subtest is not None]
    for one in refusals:
        within = (record for span, record in subtests if span.begin_s <= one.at_s <= span.end_s)
        yield one, next(within, None)


def _counts(refusal: RightRefused, owner: CheckRecord | None, record: CheckRecord) -> bool:
    if refusal.only_api not in (None, record.api_key):
        return False
    if owner is not None:
        return owner is record
    return refusal.at_s <= _Span.of(record).end_s


def _turned(record: CheckRecord, refusals: Sequence[RightRefused]) -> CheckRecord:
    concerned = [one for one in refusals if one.only_api in (None, record.api_key)]
    if not concerned or record.verdict not in _TURNED:
        return record
    capability = capability_of(one.right for one in concerned)
    return replace(
        record,
        verdict=Verdict.NOT_APPLICABLE,
        reason=f"the target lacks {capability}; so: {record.reason}",
        capability_missing=capability,
    )

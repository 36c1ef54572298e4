"""The whole comparison: our definitions, as a release spoke them, against that release's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.codec.drift.compare import DriftDifference, differences
from harness.codec.drift.definition import Definition, our_definition
from harness.codec.drift.errors import DriftError
from harness.codec.drift.kafka_jar import Definitions
from harness.codec.drift.reviewed import FILE, Review, Reviewed, review, reviewed_drift
from harness.codec.drift.versions import RPC_TYPES, version_differences
from harness.codec.messages import message_names
from harness.codec.releases import release_numbers

_UNLISTED = "correct harness/codec/schemas, or list it with its reason in " + FILE
_STALE = "it is not so: take it out of " + FILE + ", or mend its versions or releases"


@dataclass(frozen=True)
class DriftReport:
    """``definitions`` and ``versions`` count what the release has and was compared."""

    release: str
    definitions: int
    versions: int
    review: Review

    @property
    def is_as_reviewed(self) -> bool:
        return not (self.review.unlisted or self.review.stale)

    def problems(self) -> Iterator[str]:
        """A line each: message, versions, field, ours, theirs, what to do."""
        for one in self.review.unlisted:
            yield f"unlisted: {one} -> {_UNLISTED}"
        for one, releases in self.review.stale:
            yield f"stale: {one} (listed for {releases}) -> {_STALE}"


def check_drift(theirs: Definitions, entries: Iterable[Reviewed] | None = None) -> DriftReport:
    """Compare everything that a release has; ``entries``: the reviewed ones when None.

    Raises DriftError when the release is none.
    """
    try:
        release = release_numbers(theirs.release)
    except ValueError as error:
        raise DriftError(str(error)) from error
    found: list[DriftDifference] = []
    both: dict[str, frozenset[int]] = {}
    for ours, other in _pairs(theirs):
        found += version_differences(ours.spec, other.spec if other else None, release)
        both[ours.spec.name] = frozenset()
        if other is not None:
            both[ours.spec.name] = frozenset(ours.spec.valid) & frozenset(other.spec.valid)
            found += differences(ours, other)
    found += _only_theirs(theirs)
    return DriftReport(
        theirs.release,
        len(theirs.messages),
        sum(map(len, both.values())),
        review(found, release, both, reviewed_drift() if entries is None else entries),
    )


def _pairs(theirs: Definitions) -> Iterator[tuple[Definition, Definition | None]]:
    """Each of ours with theirs: by API key and direction, else by name.

    Where there are requests, all must be there. Other messages are spread over several jars.
    """
    by_identity = _by_identity(theirs)
    has_requests = any(one.spec.type == "request" for one in theirs.messages.values())
    for name in message_names():
        ours = our_definition(name, theirs.release)
        other = by_identity.get(_identity(ours))
        if other is not None or (has_requests and ours.spec.type in RPC_TYPES):
            yield ours, other


def _identity(one: Definition) -> tuple[object, ...]:
    spec = one.spec
    return (spec.type, spec.api_key) if spec.type in RPC_TYPES else (spec.name,)


def _by_identity(theirs: Definitions) -> dict[tuple[object, ...], Definition]:
    return {_identity(one): one for one in theirs.messages.values()}


def _only_theirs(theirs: Definitions) -> Iterator[DriftDifference]:
    """Messages that we lack, and files that are no definition in the grammar that we know."""
    ours = {_identity(our_definition(name, theirs.release)) for name in message_names()}
    for identity, one in _by_identity(theirs).items():
        if identity not in ours and one.spec.valid:
            versions = tuple(one.spec.valid)
            yield DriftDifference(one.spec.name, "", "message", "absent", "there", versions)
    for name, reason in theirs.unreadable.items():
        yield DriftDifference(name.removesuffix(".json"), "", "definition", "readable", reason, ())

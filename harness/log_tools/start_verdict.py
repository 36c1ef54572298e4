"""The start of a release on the folders that were checked: by the kinds of the findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from harness.log_tools.broker_folders import DIRECTORY_ID
from harness.log_tools.findings import Finding
from harness.log_tools.release_limits import ReleaseLimits

KRAFT, ZOOKEEPER = "KRaft", "ZooKeeper"


class StartResult(Enum):
    """The result for the broker, the worst first; ``word``: for programs."""

    NOT_STARTED = "does not start"
    DIRECTORY_FAILS = "a log directory fails, and without another one it does not start"
    STARTS = "starts"

    @property
    def word(self) -> str:
        return self.name.lower().replace("_", "-")


_STOPS, _FAILS, _STARTS = StartResult


class _Rule(NamedTuple):
    """The result in these releases; ``mode``: in this one alone."""

    result: StartResult
    releases: str = "0.7+"
    mode: str | None = None


_ALWAYS = (_Rule(_STOPS),)
RULES: Mapping[str, tuple[_Rule, ...]] = {
    "meta-missing": (_Rule(_STOPS, mode=KRAFT),),
    "meta-key": (
        _Rule(_FAILS, "3.7+", KRAFT),
        _Rule(_STOPS, "0.7-3.6"),
    ),
    "meta-value": (_Rule(_FAILS, "3.7+", KRAFT), _Rule(_STOPS)),
    "meta-reserved": (_Rule(_STOPS, "3.7+", KRAFT),),
    "meta-cluster": (_Rule(_STOPS, "2.4+"),),
    "meta-node": _ALWAYS,
    "meta-version": (_Rule(_STOPS, "0.7-3.6"), _Rule(_STOPS, "3.7+", ZOOKEEPER)),
    "meta-directory": (_Rule(_STOPS, "3.7+", KRAFT),),
    "folder-name": _ALWAYS,
    "partition-twice": _ALWAYS,
    "metadata-log-twice": (_Rule(_STOPS, mode=KRAFT),),
    "metadata-record": (_Rule(_STOPS, mode=KRAFT),),
    "future-twice": _ALWAYS,
    "future-beside-present": (_Rule(_FAILS, "1.1+", ZOOKEEPER), _Rule(_STOPS)),
    "future-alone": (_Rule(_STOPS, "0.7-1.0"),),
    "topic-id-zero": (_Rule(_STOPS, "2.8"), _Rule(_FAILS, "3.0+")),
    "checkpoint": (_Rule(_STOPS, "0.7-2.8"), _Rule(_FAILS)),
    "note": (_Rule(_STOPS, "0.7-2.8"), _Rule(_FAILS)),
    "release-kraft": _ALWAYS,
    "release-directory-id": _ALWAYS,
    "release-folder": _ALWAYS,
    "release-topic-id": (_Rule(_STOPS, "2.8"), _Rule(_FAILS)),
    "release-metadata-version": _ALWAYS,
    "release-feature": _ALWAYS,
    "release-quorum-state": _ALWAYS,
}
"""By the kind of a finding; the first rule that fits decides. The others stop no release."""


class StartVerdict(NamedTuple):
    """``kinds``: of the findings that decide, sorted."""

    release: str
    mode: str
    result: StartResult
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        because = f" ({', '.join(self.kinds)})" if self.kinds else ""
        return f"release {self.release} with {self.mode}: {self.result.value}{because}"


def start_verdict(findings: Iterable[Finding], limits: ReleaseLimits, mode: str) -> StartVerdict:
    """Return the start of the release on folders with these findings."""
    results = {one.kind: _result(one, limits, mode) for one in findings}
    for result in (_STOPS, _FAILS):
        kinds = sorted(kind for kind, found in results.items() if found is result)
        if kinds:
            return StartVerdict(limits.release, mode, result, tuple(kinds))
    return StartVerdict(limits.release, mode, _STARTS, ())


def _result(finding: Finding, limits: ReleaseLimits, mode: str) -> StartResult:
    if finding.problem.startswith(DIRECTORY_ID) and not limits.is_in("2.8+"):
        return _STARTS  # no release before reads more than the node's id
    for rule in RULES.get(finding.kind, ()):
        if rule.mode in (None, mode) and limits.is_in(rule.releases):
            return rule.result
    return _STARTS

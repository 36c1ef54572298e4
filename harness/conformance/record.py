"""The lines of a run journal as typed values, and their strict reading from JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.base.suggestion import did_you_mean
from harness.conformance.verdict import Verdict

RUN_ID = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
"""A run id names folders and a Parquet partition. It starts with a letter, so that no reader
takes it for a number or a date when it infers types of partition values."""

LEVELS = ("MUST", "SHOULD", "MAY")
VERSIONS_SOURCES = ("advertised", "observed")
_ADDED_LATER = {"versions_source": VERSIONS_SOURCES[0], "greases": False}
"""Fields that older headers lack, with the value that they had then."""
_ADDED_LATER_TO_CHECKS = {"subtest": None}
"""The same for the lines of checks."""


class RecordError(ValueError):
    """A line of a journal has not the published form; the message names the field."""


def _is_int(value: Any) -> bool:
    return type(value) is int


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_time(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return datetime.fromisoformat(value).utcoffset() is not None
    except ValueError:
        return False


def _is_verdict(value: Any) -> bool:
    return isinstance(value, str) and value in set(Verdict)


def _is_run_id(value: Any) -> bool:
    return isinstance(value, str) and RUN_ID.fullmatch(value) is not None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in value)


def _is_version_ranges(value: Any) -> bool:
    return isinstance(value, dict) and all(
        re.fullmatch(r"-?\d+", key)
        and isinstance(span, list)
        and len(span) == 2
        and all(_is_int(end) for end in span)
        for key, span in value.items()
    )


def _or_null(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


Shape = Mapping[str, Callable[[Any], bool]]

RUN_SHAPE: Shape = {
    "run": _is_run_id,
    "suite_version": _is_text,
    "catalogue_version": _is_text,
    "seed": _is_int,
    "target": _is_text,
    "implementation": _is_text,
    "release": _is_text,
}
"""The fields of the run's header that each check line repeats."""

HEADER_SHAPE: Shape = {
    **RUN_SHAPE,
    "capabilities": _is_texts,
    "api_versions": _is_version_ranges,
    "versions_source": lambda value: value in VERSIONS_SOURCES,
    "greases": lambda value: isinstance(value, bool),
    "started_at": _is_time,
}

CHECK_SHAPE: Shape = {
    "requirement": _is_text,
    "area": _is_text,
    "level": lambda value: value in LEVELS,
    "case": _is_text,
    "check": _is_int,
    "subtest": _or_null(_is_text),
    "attempt": _is_int,
    "api_key": _or_null(_is_int),
    "api_version": _or_null(_is_int),
    "verdict": _is_verdict,
    "reason": lambda value: isinstance(value, str),
    "capability_missing": _or_null(_is_text),
    "duration_ms": lambda value: _is_int(value) or isinstance(value, float),
    "evidence": _or_null(_is_text),
    "at": _is_time,
}

CASE_SHAPE: Shape = {"case": _is_text, "requirements": _is_texts}

FOOTER_SHAPE: Shape = {"finished_at": _is_time, "checks": _is_int, "exit": _is_int}


def require_shape(values: Any, shape: Shape, what: str) -> dict[str, Any]:
    """Check that a JSON object has exactly the fields of a shape, each of the right kind.

    Raises:
        RecordError: a field is missing, unknown or of the wrong kind.
    """
    if not isinstance(values, dict):
        raise RecordError(f"{what} is not an object")
    for name in shape:
        if name not in values:
            raise RecordError(f'{what} lacks "{name}"')
    for name, value in values.items():
        if name not in shape:
            raise RecordError(f'{what} has an unknown field "{name}"{did_you_mean(name, shape)}')
        if not shape[name](value):
            raise RecordError(f'{what}: "{name}" may not be {value!r}')
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """The judged target, the judging suite, and the conditions of the run.

    Attributes:
        run: id of the run, see `RUN_ID`.
        suite_version, catalogue_version: of the judging side.
        seed: the run's number; every random draw derives from it.
        target, implementation, release: the target's string, its product and its release.
        capabilities: the actions that the target allows, sorted.
        api_versions: API key to (lowest, highest) version, as the target advertises them.
        versions_source: "observed" where the target advertises nothing; `api_versions` then has the
            versions that it was observed to serve.
        greases: True if flexible requests had unknown tagged fields.
        started_at: UTC, ISO 8601 with offset.
    """

    run: str
    suite_version: str
    catalogue_version: str
    seed: int
    target: str
    implementation: str
    release: str
    capabilities: tuple[str, ...]
    api_versions: Mapping[int, tuple[int, int]]
    started_at: str
    versions_source: str = VERSIONS_SOURCES[0]
    greases: bool = False

    def run_fields(self) -> dict[str, Any]:
        """The fields that each check line repeats."""
        return {name: getattr(self, name) for name in RUN_SHAPE}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            **self.run_fields(),
            "capabilities": list(self.capabilities),
            "api_versions": {str(k): list(v) for k, v in sorted(self.api_versions.items())},
            "versions_source": self.versions_source,
            "greases": self.greases,
            "started_at": self.started_at,
        }

    @staticmethod
    def from_json(values: Any) -> RunHeader:
        """Read it back. Raises `RecordError`."""
        if isinstance(values, dict):
            values = {**_ADDED_LATER, **values}
        fields = require_shape(values, HEADER_SHAPE, "the header")
        ranges = {int(key): (span[0], span[1]) for key, span in fields["api_versions"].items()}
        capabilities = tuple(fields["capabilities"])
        return RunHeader(**{**fields, "capabilities": capabilities, "api_versions": ranges})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """One collected case and the requirements that it declares to judge."""

    case: str
    requirements: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"case": self.case, "requirements": list(self.requirements)}

    @staticmethod
    def from_json(values: Any) -> PlannedCase:
        """Read it back. Raises `RecordError`."""
        fields = require_shape(values, CASE_SHAPE, "a planned case")
        return PlannedCase(case=fields["case"], requirements=tuple(fields["requirements"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord:
    """The result of one check.

    Attributes:
        requirement, area, level: as in the catalogue.
        case: pytest node id without the folder.
        check: ordinal of the check within the case, from 1.
        subtest: name of the specimen that it judged, None if it judged the whole check.
        attempt: 1, and one more for each retry of the case.
        api_key, api_version: the API of the requests, where the check is about one API.
        verdict: see `Verdict`.
        reason: the reason for a verdict other than passed; empty for passed.
        capability_missing: for not_applicable, the capability that the target lacks.
        duration_ms: duration of the check.
        evidence: path relative to the run's folder.
        at: end of the check, UTC, ISO 8601 with offset.
    """

    requirement: str
    area: str
    level: str
    case: str
    check: int
    attempt: int
    api_key: int | None
    api_version: int | None
    verdict: Verdict
    reason: str
    capability_missing: str | None
    duration_ms: float
    evidence: str | None
    at: str
    subtest: str | None = None

    @property
    def text(self) -> str:
        """The reason, after the name of the subtest if there is one."""
        return self.reason if self.subtest is None else f"{self.subtest}: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values (fit for passing between processes)."""
        fields = {name: getattr(self, name) for name in CHECK_SHAPE}
        return {**fields, "verdict": self.verdict.value}

    @staticmethod
    def from_json(values: Any) -> CheckRecord:
        """Read it back. Raises `RecordError`."""
        if isinstance(values, dict):
            values = {**_ADDED_LATER_TO_CHECKS, **values}
        fields = require_shape(values, CHECK_SHAPE, "a check")
        changed = {
            "verdict": Verdict(fields["verdict"]),
            "duration_ms": float(fields["duration_ms"]),
        }
        return CheckRecord(**{**fields, **changed})


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """The last line: the run came to its end, with so many checks and this exit code."""

    finished_at: str
    checks: int
    exit: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {name: getattr(self, name) for name in FOOTER_SHAPE}

    @staticmethod
    def from_json(values: Any) -> Footer:
        """Read it back. Raises `RecordError`."""
        return Footer(**require_shape(values, FOOTER_SHAPE, "the footer"))

"""Data of a site that results do not carry: the catalogue, its tests, changes between runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class GivenTest:
    """A test of the suites: `place` is file and line; `api` and `versions` are empty if it is about
    no single API."""

    place: str
    name: str
    api: str = ""
    versions: str = ""


@dataclass(frozen=True)
class GivenDefect:
    """A mistake of a broker that a test must notice: its place in the table, and its words."""

    place: str
    meaning: str


@dataclass(frozen=True)
class GivenRequirement:
    """An entry of the catalogue. `facts`: further names and values of it, in their order."""

    id: str
    area: str
    level: str
    statement: str
    source: str
    since: str
    until: str | None = None
    facts: Sequence[tuple[str, str]] = ()
    tests: Sequence[GivenTest] = ()
    defects: Sequence[GivenDefect] = ()


@dataclass(frozen=True)
class GivenApi:
    """An API of Kafka; `releases`: each version with the first release that has it."""

    key: int
    name: str
    releases: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class ChangedRequirement:
    """A requirement that is not as it was; a verdict is None where a run has no check of it."""

    kind: str
    requirement: str
    before: str | None
    after: str | None
    reason: str


@dataclass(frozen=True)
class RunStep:
    """A run of a target and what changed since the one before it; `before` None: it is the first.

    `at`: its end, ISO 8601. `incomplete`: why one of the two is not whole, a sentence each.
    """

    run: str
    at: str
    before: str | None
    changes: Sequence[ChangedRequirement] = ()
    incomplete: Sequence[str] = ()


@dataclass(frozen=True)
class SiteGiven:
    """`areas`: titles by name. By target: `steps`, the oldest run first; `commands`, which repeat
    the run; `sarif`, its findings as text."""

    catalogue_version: str = ""
    areas: Mapping[str, str] = field(default_factory=dict)
    requirements: Sequence[GivenRequirement] = ()
    apis: Sequence[GivenApi] = ()
    steps: Mapping[str, Sequence[RunStep]] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    sarif: Mapping[str, str] = field(default_factory=dict)

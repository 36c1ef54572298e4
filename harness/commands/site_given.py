"""The data of a site beside the results: the catalogue with its tests, APIs, changes, findings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from harness.base.bundle import suites_root
from harness.codec.apis import APIS
from harness.codec.first_releases import first_releases
from harness.commands.reported_runs import ReportedRuns
from harness.conformance.catalogue import NEEDS, Catalogue, Requirement, load_catalogue
from harness.conformance.compare import compare
from harness.conformance.gate import GateResult, findings_of
from harness.conformance.journal import JOURNAL_NAME, Journal
from harness.conformance.observed import the_observed
from harness.conformance.run_headline import tested_below
from harness.conformance.sarif import as_sarif
from harness.conformance.summary import summarize
from harness.conformance.where_judged import JudgingTest, all_defects, all_judging_tests

if TYPE_CHECKING:
    from reports.site.given import (
        GivenApi,
        GivenRequirement,
        GivenTest,
        RunStep,
        SiteGiven,
    )

MOST_GLOBS: Final = 30
"""Of a longer selection a command would be unreadable: the site gives none."""


def site_given(runs: ReportedRuns) -> SiteGiven:
    """Gather it for the runs."""
    from reports.site.given import SiteGiven

    catalogue, by_target = load_catalogue(), runs.by_target
    return SiteGiven(
        catalogue_version=catalogue.version,
        areas={area.name: area.title for area in catalogue.areas.values()},
        requirements=list(_requirements(catalogue)),
        apis=[_api(key) for key in sorted(APIS)],
        steps={target: _steps(found) for target, found in by_target.items()},
        commands={
            target: command
            for target, found in by_target.items()
            if (command := run_command(found[-1], catalogue))
        },
        sarif={target: _sarif(found[-1], catalogue) for target, found in by_target.items()},
    )


def _requirements(catalogue: Catalogue) -> Iterator[GivenRequirement]:
    from reports.site.given import GivenDefect, GivenRequirement

    root = suites_root()
    tests, defects = all_judging_tests(root), all_defects(root)
    for one in catalogue.requirements.values():
        yield GivenRequirement(
            id=one.id,
            area=one.area,
            level=one.level,
            statement=one.statement,
            source=one.source,
            since=one.since,
            until=one.until,
            facts=list(_facts(one)),
            tests=[_test(test) for test in tests.get(one.id, [])],
            defects=[GivenDefect(found.place, found.meaning) for found in defects.get(one.id, [])],
        )


def _facts(one: Requirement) -> Iterator[tuple[str, str]]:
    """Names and values of what an entry has beside its dates."""
    observed = the_observed().words(one.id).items()
    facts = {
        "not in": ", ".join(one.not_in),
        "about the dates": one.since_note,
        "versions": _versions(one),
        "observed by": one.observe,
        "needs": ", ".join(NEEDS[name] for name in sorted(one.needs)),
        "on Kafka": "; ".join(f"{state.replace('_', ' ')} {at}" for state, at in observed),
        "earlier wording": " / ".join(one.was),
        "corrected by": one.corrected_by,
        "seen on": ", ".join(one.seen_on),
        "not judged": one.not_judged,
    }
    yield from ((name, value) for name, value in facts.items() if value)


def _versions(one: Requirement) -> str:
    ends = (("from", one.since_version), ("up to", one.until_version))
    return " ".join(f"{word} v{number}" for word, number in ends if number is not None)


def _test(test: JudgingTest) -> GivenTest:
    from reports.site.given import GivenTest

    api, _, versions = test.versions.partition(" ")
    return GivenTest(test.place, test.name, api, versions)


def _api(key: int) -> GivenApi:
    from reports.site.given import GivenApi

    firsts = first_releases(key).items()
    return GivenApi(key, APIS[key].name, [(number, first.release) for number, first in firsts])


def _steps(runs: Sequence[Journal]) -> list[RunStep]:
    """One for each run of a target, the oldest first."""
    from reports.site.given import ChangedRequirement, RunStep

    steps = [RunStep(runs[0].header.run, _end(runs[0]), None)]
    for before, after in pairwise(runs):
        (found,) = compare([before], [after]).comparisons
        changes = [
            ChangedRequirement(one.kind, one.requirement, one.before, one.after, one.reason)
            for one in found.changes
        ]
        made = RunStep(after.header.run, _end(after), before.header.run, changes, found.defects)
        steps.append(made)
    return steps


def _end(run: Journal) -> str:
    return run.footer.finished_at if run.footer else run.header.started_at


def run_command(run: Journal, catalogue: Catalogue) -> str | None:
    """The command that repeats a run: target, seed, and the requirements that it planned.

    None: the plan is not known, or a command would be too long. An area stands as ``AREA-*`` where
    all its requirements with a test were planned.
    """
    planned = {name for case in run.plan for name in case.requirements}
    globs = _globs(planned, catalogue)
    if not planned or len(globs) > MOST_GLOBS:
        return None
    words = ["kafka-conformance", "run", "--target", run.header.target]
    words += [word for glob in globs for word in ("--requirement", glob)]
    words += ["--grease"] if run.header.greases else []
    return shlex.join([*words, "--seed", str(run.header.seed), "--out", "results"])


def _globs(planned: set[str], catalogue: Catalogue) -> list[str]:
    """Patterns of the planned requirements; none if these are all that have a test."""
    tested = tested_below(suites_root())
    whole, globs = True, []
    for area in catalogue.areas.values():
        own = [name for name in area.requirements if name in tested]
        chosen = [name for name in own if name in planned]
        whole = whole and chosen == own
        globs += [f"{area.name}-*"] if chosen and chosen == own else chosen
    return [] if whole else globs


def _sarif(run: Journal, catalogue: Catalogue) -> str:
    """The findings of one run; their place is its journal."""
    found = GateResult(runs={}, findings=findings_of(summarize(run)), known=(), headlines={})
    place = f"runs/{run.header.run}/{JOURNAL_NAME}"
    return json.dumps(as_sarif(found, catalogue, version("kafka-conformance"), place), indent=1)

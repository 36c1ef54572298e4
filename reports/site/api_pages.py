"""The page of an API: its versions by release, what each target serves, requirements about it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ..api_matrix import ApiVersion
from ..matrix import Matrix
from ..verdicts import QUIET, VerdictWord
from ..wording import version_ranges
from .addresses import APIS, api_page
from .given import GivenApi, SiteGiven
from .render import SitePages, word_of
from .requirement_pages import all_requirements


@dataclass(frozen=True)
class OfferedApi:
    """The versions of an API that one target serves: ranges of versions, empty for none.

    `observed`: it advertises nothing and was seen to serve these. `wrong`: versions with a check
    that needs a look, each with its verdict and the requirements.
    """

    target: str
    versions: str
    observed: bool
    wrong: tuple[tuple[int, VerdictWord, tuple[str, ...]], ...]


def all_apis(matrix: Matrix, given: SiteGiven) -> list[tuple[GivenApi, str]]:
    """Each API with its address: those of Kafka, then those that only targets have."""
    known = {api.key for api in given.apis}
    others = {seen.api_key: seen.api_name for seen in matrix.apis if seen.api_key not in known}
    return [
        *((api, api_page(api.name)) for api in given.apis),
        *((GivenApi(key, name, ()), api_page(str(key))) for key, name in sorted(others.items())),
    ]


def write_api_pages(pages: SitePages, matrix: Matrix, given: SiteGiven) -> None:
    """Write the page of each API, and the list of all."""
    seen: defaultdict[int, list[ApiVersion]] = defaultdict(list)
    for version in matrix.apis:
        seen[version.api_key].append(version)
    statements = {one.id: one.statement for one in all_requirements(matrix, given)}
    tested = _requirements_by_api(given)
    found = all_apis(matrix, given)
    for api, address in found:
        judged = {name for version in seen[api.key] for name, _ in version.requirements}
        names = sorted(judged | tested.get(api.name, set()))
        pages.page(
            address,
            "api.html",
            title=api.name,
            api=api,
            releases=by_release(api),
            served=[served(target, seen[api.key]) for target in matrix.targets],
            requirements=[(name, statements.get(name, "")) for name in names],
        )
    pages.page(f"{APIS}/index.html", "apis.html", title="APIs", apis=found)


def by_release(api: GivenApi) -> list[tuple[str, str]]:
    """The releases that brought versions, each with the range of these, in order of versions."""
    found: dict[str, list[int]] = {}
    for version, release in api.releases:
        found.setdefault(release, []).append(version)
    return [(release, version_ranges(versions)) for release, versions in found.items()]


def served(target: str, seen: list[ApiVersion]) -> OfferedApi:
    """The offer of one target, from the versions of one API."""
    own = [one for one in seen if one.target == target]
    offered = [one for one in own if one.declared or one.observed]
    return OfferedApi(
        target,
        version_ranges(one.api_version for one in offered),
        any(one.observed for one in offered),
        tuple(_wrong(one) for one in own if _loud(one)),
    )


def _loud(version: ApiVersion) -> list[tuple[str, str]]:
    """Requirements with a verdict that needs a look, the worst first."""
    return [(name, verdict) for name, verdict in version.requirements if verdict not in QUIET]


def _wrong(version: ApiVersion) -> tuple[int, VerdictWord, tuple[str, ...]]:
    loud = _loud(version)
    return version.api_version, word_of(loud[0][1]), tuple(name for name, _ in loud)


def _requirements_by_api(given: SiteGiven) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one in given.requirements:
        for test in one.tests:
            if test.api:
                found[test.api].add(one.id)
    return dict(found)

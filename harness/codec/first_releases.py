"""The first release of Apache Kafka that has each version of each API.

``first_releases.tsv`` has a line per API. ``first_releases``: the first release that has the
version in its definitions without the mark ``latestVersionUnstable``; if all releases with the
version have the mark, the first of them. ``early_access``: the releases that have the version with
the mark (also 0.8.2: its clients had two versions that no broker served). From 2.2 on the source is
the definitions in the released jars; before that, the releases' answers or code.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from harness.codec.errors import DefinitionError
from harness.codec.package_text import package_text
from harness.codec.releases import ReleaseRange, release_numbers


class FirstRelease(NamedTuple):
    """``early_access`` is None for nearly all: the releases in which a version was unstable."""

    release: str
    early_access: ReleaseRange | None

    def is_in(self, release: tuple[int, ...]) -> bool:
        """True if a release (its numbers) has the version."""
        if release >= release_numbers(self.release):
            return True
        return self.early_access is not None and release in self.early_access


class VersionsOfAnApi(dict[int, FirstRelease]):
    """First releases by version. An unknown version raises DefinitionError."""

    def __init__(self, api_name: str, found: dict[int, FirstRelease]) -> None:
        super().__init__(found)
        self._api_name = api_name

    def __missing__(self, version: int) -> FirstRelease:
        raise DefinitionError(
            f"{self._api_name} v{version} has no first release: "
            "add it to harness/codec/first_releases.tsv"
        )


@cache
def first_releases(api_key: int) -> VersionsOfAnApi:
    """By version, for every version that was ever released; KeyError for an unknown API."""
    return _table()[api_key]


@cache
def _table() -> dict[int, VersionsOfAnApi]:
    text = package_text("harness.codec", "first_releases.tsv")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {
        int(key): VersionsOfAnApi(name, _versions(first, early)) for key, name, first, early in rows
    }


def _versions(first: str, early: str) -> dict[int, FirstRelease]:
    ranges = {version: ReleaseRange.parse(text) for version, text in _pairs(early)}
    return {
        version: FirstRelease(release, ranges.get(version)) for version, release in _pairs(first)
    }


def _pairs(text: str) -> list[tuple[int, str]]:
    """``0=0.8.1 4-5=1.0``, one for each version; ``-`` is none."""
    pairs: list[tuple[int, str]] = []
    for word in text.split() if text != "-" else []:
        versions, _, release = word.partition("=")
        low, _, high = versions.partition("-")
        pairs += [(version, release) for version in range(int(low), int(high or low) + 1)]
    return pairs

"""At which versions a test runs."""

from __future__ import annotations

import pytest

from harness.codec.apis import api_named
from harness.codec.versions import VersionRange
from harness.runner.marks import at_versions, ends_of, released_versions


def _judge() -> None:
    """A test to be marked."""


def _marked(api: str, *ranges: str) -> tuple[object, ...]:
    marked = at_versions(api, *ranges)(_judge)
    mark: pytest.Mark = marked.pytestmark.pop()  # type: ignore[attr-defined]
    assert mark.name == "at_versions"
    return mark.args


def test_at_versions_without_range_means_all_versions() -> None:
    assert _marked("Fetch") == (api_named("Fetch"), VersionRange.parse("0+"))


def test_at_versions_keeps_several_ranges() -> None:
    api, *ranges = _marked("Fetch", "0-3", "4+")
    assert api is api_named("Fetch")
    assert ranges == [VersionRange.parse("0-3"), VersionRange.parse("4+")]


def test_ends_of_range_exclude_unstable_versions() -> None:
    api = api_named("InitProducerId")
    assert api.unstable_versions, "a version that is not released is wanted here"
    every = released_versions(api, VersionRange.parse("2+"))
    assert ends_of(api, VersionRange.parse("2+")) == [2, every[-1]]
    assert every[-1] not in api.unstable_versions
    assert ends_of(api, VersionRange.parse("3")) == [3]

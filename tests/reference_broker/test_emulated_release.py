"""Emulated releases: the broker advertises that release's versions, and serves no more."""

from __future__ import annotations

import pytest

from harness.codec.apis import api_named
from harness.codec.first_releases import first_releases
from harness.reference_broker.emulated_release import (
    LIKE_NONE,
    EmulatedRelease,
    LikenessError,
    releases,
)
from harness.reference_broker.handlers.outcome import ApiRange
from harness.reference_broker.handlers.table import HANDLERS, advertised_like


def test_advertised_versions_are_within_versions_of_release() -> None:
    for release in releases():
        like = EmulatedRelease.of(release)
        found = advertised_like(like)
        assert found, release
        for api in found:
            lowest, highest = like.api_versions[api.api_key]
            assert lowest <= api.lowest <= api.highest <= highest


def test_lowest_create_topics_version_depends_on_release() -> None:
    create_topics = api_named("CreateTopics").key

    def lowest(like: EmulatedRelease) -> int:
        return next(a.lowest for a in advertised_like(like) if a.api_key == create_topics)

    assert lowest(EmulatedRelease.of("2.8.2")) == 0
    assert lowest(EmulatedRelease.of("4.4.0")) == 2
    assert lowest(LIKE_NONE) == HANDLERS[create_topics].advertised.lowest


def test_produce_versions_below_3_are_advertised_but_not_served_by_4_x() -> None:
    def produce(like: EmulatedRelease) -> ApiRange:
        return next(a for a in advertised_like(like) if a.api_key == api_named("Produce").key)

    assert produce(EmulatedRelease.of("4.4.0")).lowest == 0
    assert [v in produce(EmulatedRelease.of("4.4.0")) for v in (0, 2, 3)] == [False, False, True]
    assert 0 in produce(EmulatedRelease.of("3.9.2"))
    assert 0 in produce(LIKE_NONE)


def test_since_compares_emulated_release_with_version() -> None:
    like = EmulatedRelease.of("2.8.2")
    assert like.since(2, 8)
    assert not like.since(3)
    assert not EmulatedRelease.of("0.10.2.2").since(0, 11)
    assert LIKE_NONE.since(99)


def test_unknown_release_is_refused() -> None:
    with pytest.raises(LikenessError, match=r"did you mean '?2\.8\.2|known are"):
        EmulatedRelease.of("2.8.1")


@pytest.mark.parametrize("release", releases())
def test_highest_api_versions_match_first_releases_of_versions(release: str) -> None:
    """The dates of the codec, from the definitions in the jars, are the reference."""
    like = EmulatedRelease.of(release)
    for key, (_, highest) in like.api_versions.items():
        newer = first_releases(key).get(highest + 1)
        if newer is not None and newer.early_access is None:
            numbers = tuple(map(int, release.split(".")))
            assert not newer.is_in(numbers), f"api {key} v{highest + 1} came with {newer.release}"

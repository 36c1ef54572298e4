"""Versions that are advertised and not served: which, at which brokers."""

from __future__ import annotations

import pytest

from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.placeholder_versions import PLACEHOLDERS, placeholder_of, served_range
from harness.codec.apis import api_named
from harness.codec.versions import NO_VERSIONS, VersionRange

PRODUCE, FETCH = 0, 1


def _shown(**ranges: tuple[int, int]) -> dict[int, VersionRange]:
    return {api_named(name).key: VersionRange(*pair) for name, pair in ranges.items()}


def test_produce_0_to_2_are_placeholders_without_old_fetch_versions() -> None:
    shown = _shown(Produce=(0, 13), Fetch=(4, 18))
    assert served_range(shown, "Produce") == VersionRange(3, 13)
    assert served_range(shown, "Fetch") == VersionRange(4, 18)
    row = placeholder_of(shown, "Produce")
    assert row is not None
    assert row.source == "KAFKA-18659"


@pytest.mark.parametrize(
    ("shown", "served"),
    [
        (_shown(Produce=(0, 11), Fetch=(0, 17)), VersionRange(0, 11)),
        (_shown(Produce=(0, 11), Fetch=(3, 17)), VersionRange(0, 11)),
        (_shown(Produce=(0, 11)), VersionRange(0, 11)),
        (_shown(Produce=(3, 13), Fetch=(4, 18)), VersionRange(3, 13)),
        (_shown(Produce=(1, 2), Fetch=(4, 18)), NO_VERSIONS),
        (_shown(Fetch=(4, 18)), NO_VERSIONS),
    ],
)
def test_served_produce_range_excludes_placeholder_versions(
    shown: dict[int, VersionRange], served: VersionRange
) -> None:
    assert served_range(shown, "Produce") == served


def test_placeholder_rows_start_at_lowest_api_version() -> None:
    for row in PLACEHOLDERS:
        assert row.versions.lowest == api_named(row.api).valid_versions.lowest
        assert row.sign_begins_at > api_named(row.sign).valid_versions.lowest
        assert row.source


def test_advertised_excludes_placeholders_and_shown_keeps_them() -> None:
    broker = BrokerUnderTest([("127.0.0.1", 1)], {PRODUCE: (0, 13), FETCH: (4, 18)})
    assert broker.advertised("Produce") == VersionRange(3, 13)
    assert broker.shown("Produce") == VersionRange(0, 13)
    with pytest.raises(ApiNotAdvertised, match="Produce 0-2 is needed, advertised is 3-13"):
        broker.version("Produce", "0-2")

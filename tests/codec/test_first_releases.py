"""The table of first releases against the APIs; ``test_drift_jars.py`` holds it to the jars."""

from __future__ import annotations

import re

import pytest

from harness.codec.apis import APIS
from harness.codec.errors import DefinitionError
from harness.codec.first_releases import first_releases
from harness.codec.messages import older_releases
from harness.codec.releases import release_numbers


def test_every_version_of_every_api_has_first_release() -> None:
    assert {key: list(first_releases(key)) for key in APIS} == {
        key: list(api.valid_versions) for key, api in APIS.items()
    }
    assert sum(len(first_releases(key)) for key in APIS) == 368
    with pytest.raises(KeyError):
        first_releases(95)


def test_first_releases_ascend_with_versions() -> None:
    for key in APIS:
        releases = [release_numbers(first.release) for first in first_releases(key).values()]
        assert releases == sorted(releases), key


def test_first_releases_match_kips() -> None:
    """From the KIPs and release notes."""
    assert first_releases(0)[0].release == "0.8.0"
    assert first_releases(18)[0].release == "0.10.0"  # KIP-35
    assert first_releases(1)[12].release == "2.7"  # KIP-595
    assert first_releases(1)[13].release == "3.1"  # KIP-516
    assert first_releases(68)[0].release == "3.7"  # KIP-848
    assert first_releases(18)[5].release == "4.4"  # KIP-1242


def test_early_access_versions_are_in_their_preview_releases() -> None:
    share_fetch = first_releases(78)
    assert share_fetch[0].early_access
    assert str(share_fetch[0].early_access) == "3.9-4.0"
    assert share_fetch[1].early_access is None
    assert [share_fetch[0].is_in(at) for at in ((3, 8, 1), (3, 9, 0), (4, 4))] == [
        False,
        True,
        True,
    ]
    heartbeat = first_releases(68)[0]
    assert [heartbeat.is_in(at) for at in ((3, 4, 1), (3, 5, 0), (3, 7))] == [False, True, True]
    both_ends = first_releases(22)[6]
    assert str(both_ends.early_access) == "4.1+"


def test_older_layouts_belong_to_releases_with_message() -> None:
    for api in APIS.values():
        for name in (f"{api.name}Request", f"{api.name}Response"):
            for release in older_releases(name):
                assert first_releases(api.key)[0].is_in(release_numbers(release)), (name, release)


def test_version_without_first_release_raises_error_with_table_path() -> None:
    said = "Heartbeat v9 has no first release: add it to harness/codec/first_releases.tsv"
    with pytest.raises(DefinitionError, match=re.escape(said)):
        first_releases(12)[9]

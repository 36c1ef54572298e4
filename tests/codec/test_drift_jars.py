"""Our definitions against those inside released client libraries."""

from __future__ import annotations

from functools import cache

import pytest

from harness.codec.apis import APIS
from harness.codec.drift.check import check_drift
from harness.codec.drift.kafka_jar import Definitions, read_definitions
from harness.codec.first_releases import first_releases
from harness.codec.releases import release_numbers
from harness.targets.artifacts import fetch, pinned_artifacts
from harness.targets.client_jar import fetch_client_jar
from harness.targets.pinned_file import DownloadError
from tests.targets.kinds import not_run

# 3.9.2 and 4.4.0 together know every version; the others spoke some of them with other bytes.
RELEASES = ("2.4.1", "2.8.2", "3.9.2", "4.0.2", "4.3.1", "4.4.0")
OTHER_JARS = frozenset(
    {
        *("kafka-group-coordinator", "kafka-metadata", "kafka-raft", "kafka-share-coordinator"),
        *("kafka-storage", "kafka-transaction-coordinator"),
    }
)
pytestmark = pytest.mark.kafka
WITH_OTHER_JARS = ("3.9.2", "4.0.2", "4.3.1", "4.4.0")  # their differences are reviewed


@cache
def _definitions(release: str) -> Definitions:
    try:
        return read_definitions(fetch_client_jar(release))
    except DownloadError as problem:
        not_run(f"the client library of Kafka {release}: {problem}")
        raise


@pytest.mark.parametrize("release", RELEASES)
def test_all_differences_from_client_jar_are_reviewed(release: str) -> None:
    theirs = _definitions(release)
    assert theirs.release == release
    report = check_drift(theirs)
    assert list(report.problems()) == []
    assert report.definitions > 90
    assert len(report.review.as_reviewed) > 30


@pytest.mark.parametrize("release", RELEASES)
def test_versions_in_jar_match_first_release_table(release: str) -> None:
    """A version is in the jars from its first release on, until it is dropped; never before."""
    numbers = release_numbers(release)
    there, unstable = _versions(release)
    table = {
        (key, version): first
        for key in APIS
        for version, first in first_releases(key).items()
        if first.is_in(numbers)
    }
    assert there <= set(table)
    gone = set(table) - there
    assert not gone or numbers >= (4, 0)
    assert unstable == {
        pair
        for pair, first in table.items()
        if pair in there and first.early_access and numbers in first.early_access
    }


def _versions(release: str) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """(api key, version) that a release has, and those of them that are unstable."""
    there: set[tuple[int, int]] = set()
    unstable: set[tuple[int, int]] = set()
    for one in _definitions(release).messages.values():
        spec = one.spec
        if spec.type == "request" and spec.api_key is not None:
            there |= {(spec.api_key, version) for version in spec.valid}
            if spec.unstable_highest:
                unstable.add((spec.api_key, spec.valid.highest))
    return there, unstable


def test_releases_3_9_2_and_4_4_0_together_have_every_version() -> None:
    there = _versions("3.9.2")[0] | _versions("4.4.0")[0]
    assert there == {(key, version) for key, api in APIS.items() for version in api.valid_versions}
    assert len(there) == 368


@pytest.mark.parametrize("release", WITH_OTHER_JARS)
def test_all_differences_from_other_jars_are_reviewed(release: str) -> None:
    """Records of coordinators, of the metadata log and of files are in other jars."""
    pins = [pin for pin in pinned_artifacts()[release] if pin.artifact in OTHER_JARS]
    assert len(pins) >= len(OTHER_JARS) - 1  # 3.9 has no jar of the share coordinator
    try:
        jars = fetch(pins)
    except DownloadError as problem:
        not_run(f"the jars of Kafka {release}: {problem}")
        raise
    for jar in jars:
        report = check_drift(read_definitions(jar, release))
        assert list(report.problems()) == [], jar.name
        assert report.versions >= report.definitions > 0, jar.name

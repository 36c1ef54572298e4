"""Real brokers that start on remnants of other releases: they do what verify --release predicts.

``pytest tests/log_tools/test_kafka_releases.py --deep -k 4.4.0`` runs one release alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.codec.data_framing import (
    MetaProperties,
    meta_properties_bytes,
    read_meta_properties,
)
from harness.codec.data_framing.log_folder import META_PROPERTIES
from harness.log_tools.start_verdict import StartResult
from labs.awaiting import await_that
from tests.log_tools.kafka_starts import Starts, starts_of
from tests.log_tools.planted import checked
from tests.log_tools.release_cases import RELEASE_CASES
from tests.log_tools.start_cases import MODES, NEWEST, SERVED, STOPS
from tests.targets import kinds

END_OF_LOG = 2_000  # characters, shown with a failure
pytestmark = [pytest.mark.kafka, pytest.mark.deep]
PAIRS = [
    (release, name)
    for release in MODES
    for name, case in RELEASE_CASES.items()
    if release in case.seen
]


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two log directories of a stopped broker of the newest release."""
    kinds.need_kafka(NEWEST)
    kept = tmp_path_factory.mktemp("newest")
    with starts_of(NEWEST, MODES[NEWEST], tmp_path_factory.mktemp("writer")) as made:
        for folder in (made.one, made.two):
            shutil.copytree(folder, kept / folder.name)
    return kept


@pytest.fixture(scope="module")
def starts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Starts]:
    release: str = request.param
    kinds.need_kafka(release)
    with starts_of(release, MODES[release], tmp_path_factory.mktemp("starts")) as made:
        yield made


@pytest.mark.parametrize(("starts", "name"), PAIRS, indirect=["starts"])
def test_broker_starts_as_verify_predicts_for_its_release(starts: Starts, name: str) -> None:
    case = RELEASE_CASES[name]
    seen = case.seen[starts.release]
    starts.restore()
    case.change(starts)
    kinds_found = _kinds_and_result(starts)
    wanted = StartResult.NOT_STARTED if seen.result is STOPS else StartResult.STARTS
    assert kinds_found == ({seen.kind} - {""}, wanted)
    with starts.started() as is_started:
        assert is_started == (seen.result is not STOPS), starts.log_text()[-END_OF_LOG:]
        if seen.result is SERVED:
            start, end = starts.written
            starts.await_offsets(starts.victim, (start, end + seen.more))
        await_that(lambda: seen.text in starts.log_text(), f"the broker logs {seen.text!r}")


def _kinds_and_result(starts: Starts) -> tuple[set[str], StartResult]:
    found, verdict = checked(starts.one, starts.two, release=starts.release)
    assert verdict is not None
    return {one.kind for one in found if one.kind.startswith("release-")}, verdict.result


@pytest.mark.parametrize("starts", list(MODES), indirect=True)
def test_only_the_newest_release_starts_on_its_folders(starts: Starts, newest: Path) -> None:
    starts.restore()
    cluster = read_meta_properties((starts.one / META_PROPERTIES).read_bytes()).values
    for folder in (starts.one, starts.two):
        shutil.rmtree(folder)
        shutil.copytree(newest / folder.name, folder)
        _join(folder, cluster.get("cluster.id"))
    _, result = _kinds_and_result(starts)
    is_newest = starts.release == NEWEST
    assert result is (StartResult.STARTS if is_newest else StartResult.NOT_STARTED)
    with starts.started() as is_started:
        assert is_started == is_newest, starts.log_text()[-END_OF_LOG:]


def _join(folder: Path, cluster_id: str | None) -> None:
    """Let the folder be of the broker's own cluster, so that nothing else keeps it from a start."""
    path = folder / META_PROPERTIES
    found = read_meta_properties(path.read_bytes()).values
    found["cluster.id"] = cluster_id or found["cluster.id"]
    path.write_bytes(meta_properties_bytes(MetaProperties(found)))

"""Real brokers that start with files which do not fit each other: they do what verify predicts.

``pytest tests/log_tools/test_kafka_starts.py --deep -k 4.4.0`` runs one release alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.codec.data_framing import producer_snapshot_bytes, read_producer_snapshot
from harness.codec.error_code import ErrorCode
from harness.log_tools.start_verdict import RULES, StartResult
from labs.awaiting import await_that
from tests.log_tools.kafka_starts import Starts, starts_of
from tests.log_tools.made_broker import UNIQUE
from tests.log_tools.planted import checked, findings
from tests.log_tools.start_cases import (
    BEYOND,
    CASES,
    CUT,
    EMPTY,
    MODES,
    NOT_SERVED,
    OLDEST,
    STOPS,
    STRAY,
    STRAY_EMPTY,
    Result,
)
from tests.targets import kinds

END_OF_LOG = 2_000  # characters, shown with a failure
pytestmark = [pytest.mark.kafka, pytest.mark.deep]
OF_RELEASE = {kind for kind in RULES if kind.startswith("release-")}
VERDICTS = {result: {StartResult.STARTS} for result in Result} | {
    STOPS: {StartResult.NOT_STARTED},
    NOT_SERVED: {StartResult.DIRECTORY_FAILS, StartResult.STARTS},
}
"""By the state of the partition, what verify says of the start."""
PAIRS = [
    (release, name) for release in MODES for name, case in CASES.items() if release in case.seen
]


@pytest.fixture(scope="module")
def starts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Starts]:
    release: str = request.param
    kinds.need_kafka(release)
    with starts_of(release, MODES[release], tmp_path_factory.mktemp("starts")) as made:
        yield made


@pytest.mark.parametrize(("starts", "name"), PAIRS, indirect=["starts"])
def test_broker_starts_as_verify_predicts(starts: Starts, name: str) -> None:
    case = CASES[name]
    wanted, text = case.seen[starts.release]
    starts.restore()
    before = strays(starts)
    case.change(starts)
    found, verdict = checked(starts.one, starts.two, release=starts.release)
    assert {each.kind for each in found} - OF_RELEASE == case.kinds
    assert verdict is not None
    assert verdict.result in VERDICTS[wanted], str(verdict)
    with starts.started() as is_started:
        assert is_started == (wanted is not STOPS), starts.log_text()[-END_OF_LOG:]
        if is_started:
            _await_partition(starts, wanted)
        await_that(lambda: text in starts.log_text(), f"the broker logs {text!r}")
        new = strays(starts) - before
        assert len(new - {f"{starts.folder.name}.{UNIQUE}-stray"}) == (
            wanted in (STRAY, STRAY_EMPTY)
        )


def _await_partition(starts: Starts, wanted: Result) -> None:
    if wanted is NOT_SERVED:
        assert isinstance(starts.offsets(starts.victim), ErrorCode)
        return
    offsets = {EMPTY: (0, 0), STRAY_EMPTY: (0, 0), CUT: (BEYOND, BEYOND)}
    starts.await_offsets(starts.victim, offsets.get(wanted, starts.written))


def strays(starts: Starts) -> set[str]:
    return {path.name for path in starts.one.parent.glob("*/*-stray")}


PRODUCERS = [release for release in MODES if release != OLDEST]


@pytest.mark.parametrize("starts", PRODUCERS, indirect=True)
@pytest.mark.parametrize("is_changed", [False, True])
def test_snapshot_unlike_its_log_makes_the_broker_refuse_the_next_batch(
    starts: Starts, is_changed: bool
) -> None:
    starts.restore()
    if is_changed:
        _change_sequence(starts.folder)
    found = {each.kind for each in findings(starts.one, starts.two)}
    assert found == ({"producer-snapshot-batch"} if is_changed else set())
    with starts.started() as is_started:
        assert is_started
        starts.await_offsets(starts.victim, starts.written)
        error = starts.append_as_producer(1)
        assert error is (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER if is_changed else ErrorCode.NONE)


def _change_sequence(folder: Path) -> None:
    path = max(folder.glob("*.snapshot"))
    snapshot = read_producer_snapshot(path.read_bytes())
    (entry,) = snapshot.producer_entries
    entry.last_sequence += 5
    path.write_bytes(producer_snapshot_bytes(snapshot))

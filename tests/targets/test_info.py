"""Description of a target, and the factor for waits."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.targets import info
from harness.targets.asking import AnswerPace
from harness.targets.errors import TargetStartError
from harness.targets.external import ExternalBroker
from harness.targets.info import OBSERVED, TargetInfo, probe, time_scale
from harness.targets.target import TIME_SCALE_LIMIT
from tests.targets import kinds

INFO = TargetInfo(
    spec="external:[::1]:9092",
    implementation="external",
    release="unknown",
    addresses=(Address("::1", 9092), Address("b", 1)),
    api_versions={0: (3, 13), 18: (0, 4)},
    capabilities=frozenset({"create_topics", "own_broker"}),
    time_scale=1.25,
    log_path=None,
)


def test_target_info_round_trips_through_json() -> None:
    text = INFO.to_json()
    assert "\n" not in text
    assert TargetInfo.from_json(text) == INFO
    assert TargetInfo.from_json(text).addresses[0].host == "::1"
    assert TargetInfo.from_json(text).to_json() == text
    old = replace(INFO, versions_source=OBSERVED, zookeeper=Address("::1", 2181))
    assert TargetInfo.from_json(old.to_json()) == old


def test_probe_of_target_not_started_raises_target_start_error(tmp_path: Path) -> None:
    with pytest.raises(TargetStartError, match="not started"):
        probe(kinds.stand_in(tmp_path))


@pytest.mark.parametrize(
    ("first_ms", "trips_ms", "scale"),
    [
        (1.0, (1.0, 1.0, 90.0), 1.0),  # one slow answer is no slow broker
        (1.0, (10.0, 10.0, 10.0), 2.0),
        (100.0, (1.0, 1.0, 1.0), 4.0),
        (1e9, (1e9, 1e9), TIME_SCALE_LIMIT),
    ],
)
def test_time_scale_grows_with_response_times_up_to_limit(
    first_ms: float, trips_ms: tuple[float, ...], scale: float
) -> None:
    assert time_scale(AnswerPace(first_ms, trips_ms)) == scale


def test_target_limits_its_time_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "time_scale", lambda _: 9.0)
    with kinds.stand_in(tmp_path) as target:
        assert probe(target).time_scale == 9.0
        target.time_scale_limit = 4.0
        assert probe(target).time_scale == 4.0


def test_probe_asks_metadata_of_given_addresses_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Address] = []
    monkeypatch.setattr(info, "ask_cluster", lambda address, _: asked.append(address))
    with kinds.stand_in(tmp_path) as own:
        probe(own)
        assert asked == []
        with ExternalBroker(own.addresses) as given:
            probe(given)
        assert asked == own.addresses

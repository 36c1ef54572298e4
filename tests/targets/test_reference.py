"""Start of a broker by a command: its announcement, and the errors without one."""

from pathlib import Path

import pytest

from harness.targets.errors import TargetStartError
from harness.targets.reference import ReferenceBroker
from tests.targets.kinds import ROOT, STAND_IN


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # the stand-in is found from there


def broker(tmp_path: Path, timeout_ms: int = 20_000, **settings: str) -> ReferenceBroker:
    return ReferenceBroker(
        log_dir=tmp_path, settings=settings, command=STAND_IN, start_timeout_ms=timeout_ms
    )


def test_settings_reach_command_and_private_broker(tmp_path: Path) -> None:
    with broker(tmp_path, colour="blue", shape="round") as target:
        assert target.log_path is not None
        assert "'colour': 'blue', 'shape': 'round'}" in target.log_path.read_text()
        with target.start_another({"colour": "red"}) as mine:
            assert mine.log_path is not None
            assert "'colour': 'red', 'shape': 'round'}" in mine.log_path.read_text()


def test_command_that_ends_raises_target_start_error_with_log(tmp_path: Path) -> None:
    target = broker(tmp_path, mode="exit")
    with pytest.raises(TargetStartError, match="the stand-in has enough") as caught:
        target.start()
    assert "status 3" in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert not target.is_alive()


def test_missing_listening_line_raises_target_start_error(tmp_path: Path) -> None:
    target = broker(tmp_path, timeout_ms=1500, mode="mute")
    with pytest.raises(TargetStartError, match="did not print 'listening on HOST:PORT'"):
        target.start()
    assert not target.is_alive()


def test_silent_command_raises_target_start_error(tmp_path: Path) -> None:
    target = broker(tmp_path, timeout_ms=2500, mode="silent")
    with pytest.raises(TargetStartError, match="does not answer as a Kafka broker"):
        target.start()
    assert not target.is_alive()

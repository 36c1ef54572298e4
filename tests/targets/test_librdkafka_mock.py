"""The mock cluster inside librdkafka as a target."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.targets import librdkafka_mock
from harness.targets.info import probe
from harness.targets.spec import parse_target
from tests.targets.kinds import ROOT, not_run


def test_mock_cluster_starts_and_advertises_apis(tmp_path: Path) -> None:
    if find_spec("confluent_kafka") is None:
        not_run("confluent-kafka is not installed")
    with parse_target(f"command:{ROOT}/docker/librdkafka-mock.toml", log_dir=tmp_path) as target:
        info = probe(target)
        with target.start_another() as mine:
            assert mine.addresses != target.addresses
    assert info.release[0].isdigit()
    assert {0, 1, 3, 18} <= set(info.api_versions)


def test_unknown_option_of_mock_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert librdkafka_mock.main(["--port", "1"]) == 2
    assert "only --version" in capsys.readouterr().out


def test_missing_confluent_kafka_exits_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "confluent_kafka", None)
    assert librdkafka_mock.main([]) == 3
    assert "pip install confluent-kafka" in capsys.readouterr().out

"""Calls of Java clients of old releases, at brokers that serve what Kafka 4.4.0 does."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from labs.old_java_clients.__main__ import main
from tests.targets.kinds import need_kafka


def test_unknown_release_is_a_usage_error_that_names_it() -> None:
    ended = CliRunner().invoke(main, ["--target", "reference", "1.0.99"])
    assert ended.exit_code == 2
    assert "1.0.99" in ended.output


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("target", ["reference", "kafka:4.4.0"])
def test_clients_of_1_0_describe_no_configs_and_those_of_2_1_do(target: str) -> None:
    need_kafka()
    ended = CliRunner().invoke(main, ["--target", target, "1.0.2", "2.1.1"])
    assert ended.exit_code == 0, ended.output
    results = [line.split("\t") for line in ended.output.splitlines()]
    assert len(results) == 2 * 11
    failed = [(release, call) for release, call, outcome in results if outcome != "did"]
    assert failed == [("1.0.2", "describe configs")]

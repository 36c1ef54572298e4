"""Tests of another project: each fixture gives what it gives elsewhere, without signals."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.base.operating_system import (
    ASSUMED_MEMORY_BYTES,
    HAS_FORK,
    descriptor_limit,
    load_average,
    memory_bytes,
)
from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ResponseTimeout
from harness.codec.messages import ApiVersionsRequest
from harness.fixtures import ProxiedTarget, Target
from harness.targets.pinned_file import exclusive


def test_a_broker_answers(kafka_conformance_broker: BrokerUnderTest) -> None:
    assert kafka_conformance_broker.connect().ask(ApiVersionsRequest(), 0).error_code == 0


def test_a_fault_of_the_proxy_happens(kafka_conformance_proxied: ProxiedTarget) -> None:
    kafka_conformance_proxied.drop_answers("ApiVersions", first=1)
    with Connection(kafka_conformance_proxied.addresses[0], timeout_ms=300) as connection:
        with pytest.raises(ResponseTimeout):
            connection.ask(ApiVersionsRequest(), 0)
    kafka_conformance_proxied.expect_fired()


def test_it_can_be_killed_and_started_again_but_not_paused(
    kafka_conformance_target: Target,
) -> None:
    with kafka_conformance_target.start_another(kept=True) as another:
        assert {"kill_node", "restart_node", "logs"} <= another.capabilities
        assert not {"stop_node", "pause_node"} & another.capabilities
        another.kill_node(1)
        assert not another.is_alive()
        another.restart_node(1)
        assert another.is_alive()
        (folder,) = another.log_directories(1)
        assert list(folder.iterdir())
    assert not folder.exists()


def test_measures_of_the_machine_are_assumed(tmp_path: Path) -> None:
    assert not HAS_FORK
    assert memory_bytes() == ASSUMED_MEMORY_BYTES
    assert (descriptor_limit(), load_average()) == (sys.maxsize, (0.0, 0.0, 0.0))
    with exclusive(tmp_path / "once"):
        assert (tmp_path / "once.lock").exists()

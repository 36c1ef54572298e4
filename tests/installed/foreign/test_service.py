"""Tests of the foreign project, as docs/fixtures.md shows them."""

from __future__ import annotations

import socket

import pytest

from harness.client.connection import Connection
from harness.client.errors import ResponseTimeout
from harness.codec.messages import ApiVersionsRequest, MetadataResponse
from harness.fixtures import (
    BrokerUnderTest,
    MissingCapability,
    ProxiedTarget,
    Target,
    TargetInfo,
    proxied,
)


def test_its_own_names_are_untouched(broker: str, pytestconfig: pytest.Config) -> None:
    assert broker == "a pawnbroker"
    assert pytestconfig.getoption("--target") == "ours --target"


def test_a_client_of_its_own(kafka_conformance_bootstrap: str) -> None:
    host, port = kafka_conformance_bootstrap.split(",", maxsplit=1)[0].rsplit(":", 1)
    with socket.create_connection((host.strip("[]"), int(port)), timeout=10) as connection:
        assert connection.getpeername()


def test_raw_requests_at_exact_versions(kafka_conformance_broker: BrokerUnderTest) -> None:
    answer = kafka_conformance_broker.connect().ask(ApiVersionsRequest(), 0)
    assert answer.error_code == 0


def test_topics_of_its_own(kafka_conformance_broker: BrokerUnderTest) -> None:
    topic = kafka_conformance_broker.create_topic(partitions=2)
    answer: MetadataResponse = kafka_conformance_broker.metadata([topic.name])
    assert len(answer.topics[0].partitions) == 2
    assert kafka_conformance_broker.end_offset(topic) == 0


def test_the_topics_are_gone_afterwards(kafka_conformance_broker: BrokerUnderTest) -> None:
    listed = kafka_conformance_broker.metadata(None).topics
    assert [topic.name for topic in listed if (topic.name or "").startswith("kc-")] == []


def test_a_broker_with_settings_of_its_own(
    kafka_conformance_target: Target, kafka_conformance_info: TargetInfo
) -> None:
    try:
        private = kafka_conformance_target.start_another({"message.max.bytes": "2000"})
    except MissingCapability as lacking:
        pytest.skip(str(lacking))
    with private:
        assert private.is_alive()
        assert private.addresses[0] not in kafka_conformance_info.addresses
    assert not private.is_alive()


def asked(address: tuple[str, int], timeout_ms: float = 10_000) -> int:
    with Connection(address, timeout_ms=timeout_ms) as connection:
        return connection.ask(ApiVersionsRequest(), 0).error_code


def test_faults_on_the_way(kafka_conformance_proxied: ProxiedTarget) -> None:
    behind = kafka_conformance_proxied
    lost = behind.drop_answers("ApiVersions", first=1)
    with pytest.raises(ResponseTimeout):
        asked(behind.addresses[0], 500)
    assert asked(behind.addresses[0]) == 0
    behind.expect_fired(lost)


def test_a_fault_that_does_nothing_is_noticed(kafka_conformance_proxied: ProxiedTarget) -> None:
    kafka_conformance_proxied.drop_answers("Produce")
    asked(kafka_conformance_proxied.addresses[0])
    with pytest.raises(AssertionError, match="did nothing"):
        kafka_conformance_proxied.expect_fired()


def test_proxies_without_a_fixture(kafka_conformance_target: Target) -> None:
    with proxied(kafka_conformance_target, seed=7) as behind:
        behind.cut()
        with pytest.raises(ResponseTimeout):
            asked(behind.addresses[0], 500)
        assert asked(kafka_conformance_target.addresses[0]) == 0
        behind.heal()
        assert asked(behind.addresses[0]) == 0
        behind.expect_fired()

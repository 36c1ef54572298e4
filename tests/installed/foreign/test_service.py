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


def test_project_fixture_and_option_names_stay_untouched(
    broker: str, pytestconfig: pytest.Config
) -> None:
    assert broker == "a pawnbroker"
    assert pytestconfig.getoption("--target") == "ours --target"


def test_project_client_connects_to_bootstrap_address(kafka_conformance_bootstrap: str) -> None:
    host, port = kafka_conformance_bootstrap.split(",", maxsplit=1)[0].rsplit(":", 1)
    with socket.create_connection((host.strip("[]"), int(port)), timeout=10) as connection:
        assert connection.getpeername()


def test_raw_requests_at_exact_version_return_no_error(
    kafka_conformance_broker: BrokerUnderTest,
) -> None:
    answer = kafka_conformance_broker.connect().ask(ApiVersionsRequest(), 0)
    assert answer.error_code == 0


def test_created_topic_has_requested_partitions_and_is_empty(
    kafka_conformance_broker: BrokerUnderTest,
) -> None:
    topic = kafka_conformance_broker.create_topic(partitions=2)
    answer: MetadataResponse = kafka_conformance_broker.metadata([topic.name])
    assert len(answer.topics[0].partitions) == 2
    assert kafka_conformance_broker.end_offset(topic) == 0


def test_topics_of_earlier_test_are_deleted(kafka_conformance_broker: BrokerUnderTest) -> None:
    listed = kafka_conformance_broker.metadata(None).topics
    assert [topic.name for topic in listed if (topic.name or "").startswith("kc-")] == []


def test_private_broker_with_settings_starts_and_stops(
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


def test_dropped_response_times_out_and_next_request_succeeds(
    kafka_conformance_proxied: ProxiedTarget,
) -> None:
    behind = kafka_conformance_proxied
    lost = behind.drop_answers("ApiVersions", first=1)
    with pytest.raises(ResponseTimeout):
        asked(behind.addresses[0], 500)
    assert asked(behind.addresses[0]) == 0
    behind.expect_fired(lost)


def test_expect_fired_raises_for_unused_fault(kafka_conformance_proxied: ProxiedTarget) -> None:
    kafka_conformance_proxied.drop_answers("Produce")
    asked(kafka_conformance_proxied.addresses[0])
    with pytest.raises(AssertionError, match="did nothing"):
        kafka_conformance_proxied.expect_fired()


def test_proxied_target_cuts_and_heals_without_fixture(kafka_conformance_target: Target) -> None:
    with proxied(kafka_conformance_target, seed=7) as behind:
        behind.cut()
        with pytest.raises(ResponseTimeout):
            asked(behind.addresses[0], 500)
        assert asked(kafka_conformance_target.addresses[0]) == 0
        behind.heal()
        assert asked(behind.addresses[0]) == 0
        behind.expect_fired()

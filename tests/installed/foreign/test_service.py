"""Tests of the foreign project, as docs/fixtures.md shows them."""

from __future__ import annotations

import socket

import pytest

from harness.codec.messages import ApiVersionsRequest, MetadataResponse
from harness.fixtures import BrokerUnderTest, MissingCapability, Target, TargetInfo


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

"""QUOTA: quotas as clients can read them."""

from __future__ import annotations

from contextlib import suppress

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic, fetch_request, produce_request
from harness.codec.apis import api_named
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import entry_of
from suites.protocol.support.harmless import SAFE_APIS, harmless_request, served_versions
from suites.protocol.support.kept_topics import KeptTopics

FIELD = "throttle_time_ms"


def _one_record(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"x"))
    return topic


def _expect_none(throttle_time_ms: int, where: str) -> None:
    told = f"{where}: throttle_time_ms is {throttle_time_ms} without a quota"
    assert throttle_time_ms == 0, told


@judges("QUOTA-006")
@at_versions("Produce", "1-2", "3+")
def test_produce_without_quota_is_not_throttled(broker: BrokerUnderTest, api_version: int) -> None:
    """One small record."""
    topic = broker.create_topic()
    request = produce_request(topic, batch_of(b"x", version=api_version), api_version)
    with requirement("QUOTA-006"):
        answer = broker.ask(request, api_version)
        _expect_none(answer.throttle_time_ms, f"Produce v{api_version}")


@judges("QUOTA-006")
@at_versions("Fetch", "1-3", "4+")
def test_fetch_without_quota_is_not_throttled(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One small record."""
    topic = kept.topic(broker, _one_record)
    request = fetch_request([entry_of(topic, api_version, {0: 0})])
    with requirement("QUOTA-006"):
        answer = broker.ask(request, api_version)
        _expect_none(answer.throttle_time_ms, f"Fetch v{api_version}")


@judges("QUOTA-006")
@at_versions("Metadata", "3+")
def test_single_metadata_request_is_not_throttled(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One question without a topic."""
    request = MetadataRequest(topics=[])
    with requirement("QUOTA-006"):
        answer = broker.ask(request, api_version)
        _expect_none(answer.throttle_time_ms, f"Metadata v{api_version}")


THROTTLING_APIS = [
    name
    for name in SAFE_APIS
    if any(field.name == FIELD for field in api_named(name).response.message_spec.root.fields)
]


@judges("QUOTA-006")
@pytest.mark.parametrize("api_name", THROTTLING_APIS)
def test_well_formed_request_without_quota_is_not_throttled(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """One request of each API, at each version whose response has the field.

    APIV-002 judges whether there is a response, and CONN-025 its layout.
    """
    api = api_named(api_name)
    (field,) = (each for each in api.response.message_spec.root.fields if each.name == FIELD)
    for version in served_versions(broker, api_name, str(field.versions)):
        request = harmless_request(broker, api_name, version)
        with requirement("QUOTA-006", api_key=api.key, api_version=version):
            with suppress(BrokerMisbehaved):
                answer = broker.ask(request, version, tolerant=True)
                _expect_none(getattr(answer, FIELD), f"{api_name} v{version}")

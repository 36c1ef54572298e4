"""QUOTA: the mean over which a rate is measured, and the throttle time that follows from it."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.requests import Topic
from harness.client.requests import produce_request as produce
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest, ProduceResponse
from harness.conformance.checks import requirement
from harness.runner.in_time import in_time
from harness.runner.marks import judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.client_quota import client_quota
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import code_of
from suites.protocol.support.quota_admin import PERCENTAGE, PRODUCER, QUOTA_WITHIN_MS

BYTES_PER_S = 20_000
FIRST_S, SECOND_S = 9, 6  # each below the mean of ten seconds, and together above it
WHOLE_MS, SAMPLE_MS = 10_000, 1_000
"""The mean is that of ten whole seconds and of the present one (quota.window.num is 11)."""
REST_MS = 100  # of a Produce request without its records, at BYTES_PER_S
TINY_PERCENT = 0.0001  # ten seconds contain 10 microseconds of it
LONGEST_MS = 1_000  # quota.window.size.seconds


def _produced(connection: Connection, topic: Topic, batch: bytes, version: int) -> int:
    """Return the throttle time in ms."""
    answer: ProduceResponse = connection.ask(produce(topic, batch, version), version)
    expect_error(code_of(answer), ErrorCode.NONE, "Produce")
    return answer.throttle_time_ms


def _batch_of_s(seconds: int) -> bytes:
    return batch_of(b"x" * (seconds * BYTES_PER_S))


@judges("QUOTA-023")
def test_throttle_time_is_that_of_mean_over_ten_seconds(broker: BrokerUnderTest) -> None:
    """Bytes of nine seconds at once, and of six over a second later, which are too many then.

    A broker learns of quotas in their order: a throttled client with a later quota shows that the
    first one works.
    """
    topic, client_id, later = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    version = broker.version("Produce", "3+")
    first, second = _batch_of_s(FIRST_S), _batch_of_s(SECOND_S)
    with (
        client_quota(broker, client_id, PRODUCER, BYTES_PER_S),
        client_quota(broker, later, PRODUCER, BYTES_PER_S),
    ):
        other = broker.connect(later)
        broker.eventually(
            lambda: _produced(other, topic, first, version) or None, "quotas have effect"
        )
        connection = broker.connect(client_id)
        with requirement("QUOTA-023"), in_time(WHOLE_MS - SAMPLE_MS):
            found_ms = _produced(connection, topic, first, version)
            assert found_ms == 0, f"{FIRST_S} seconds' bytes at once: throttled for {found_ms} ms"
            connection.expect_silence(for_ms=1.1 * SAMPLE_MS)
            found_ms = _produced(connection, topic, second, version)
            longest_ms = (len(first) + len(second)) * 1000 / BYTES_PER_S - WHOLE_MS
            told = f"{found_ms} ms, expected are {longest_ms:.0f} ms and up to {SAMPLE_MS} ms less"
            is_right = longest_ms - SAMPLE_MS <= found_ms <= longest_ms + REST_MS
            assert is_right, f"{SECOND_S} seconds' bytes more: throttled for {told}"


@judges("QUOTA-024")
def test_request_percentage_throttles_for_one_second_at_most(broker: BrokerUnderTest) -> None:
    """Under a percentage that each request exceeds by so much that a mean would need minutes."""
    broker.version("AlterClientQuotas")
    client_id = broker.unique_topic()
    version = broker.version("Metadata", "1+")

    def throttle_ms() -> int:
        with broker.connect(client_id) as connection:
            return connection.ask(MetadataRequest(topics=None), version).throttle_time_ms

    with client_quota(broker, client_id, PERCENTAGE, TINY_PERCENT), requirement("QUOTA-024"):
        found_ms = broker.last_seen(throttle_ms, bool, QUOTA_WITHIN_MS)
        assert 0 < found_ms <= LONGEST_MS, f"throttled for {found_ms} ms"

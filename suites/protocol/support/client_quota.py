"""A quota for one client id (KIP-546), and a Fetch by that client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from suites.protocol.support.expect import expect_error
from suites.protocol.support.quota_admin import entity, prepare_quotas, quota


@contextmanager
def client_quota(broker: BrokerUnderTest, client_id: str, key: str, limit: float) -> Iterator[None]:
    """Set for the block, removed after it: bytes per second, or a percentage.

    Raises PreparationFailed when refused.

    A broker may take some time until it keeps to it.
    """
    of = entity(client_id=client_id)
    prepare_quotas(broker, quota(of, {key: limit}))
    try:
        yield
    finally:
        prepare_quotas(broker, quota(of, {key: None}))


def fetched_by(
    client_id: str, broker: BrokerUnderTest, topic: Topic, version: int
) -> FetchResponse:
    """Return the response to a Fetch of partition 0 from its start, on a new connection."""
    request = fetch_request([fetch_topic(topic, version, [fetch_partition(0)])])
    with broker.connect(client_id) as connection:
        answer: FetchResponse = connection.ask(request, version)
    expect_error(answer.error_code, ErrorCode.NONE, "Fetch")
    return answer

"""A quota for one client id (KIP-546), and a Fetch by that client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.only import only
from harness.client.preparing import preparing
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterClientQuotasRequest, FetchResponse
from suites.protocol.support.expect import expect_error

CLIENT_ID = "client-id"


@contextmanager
def client_quota(broker: BrokerUnderTest, client_id: str, key: str, limit: float) -> Iterator[None]:
    """Set for the block, removed after it: bytes per second, or a percentage.

    Raises PreparationFailed when refused.

    A broker may take some time until it keeps to it.
    """
    _alter(broker, client_id, key, limit)
    try:
        yield
    finally:
        _alter(broker, client_id, key, None)


def fetched_by(
    client_id: str, broker: BrokerUnderTest, topic: Topic, version: int
) -> FetchResponse:
    """Return the response to a Fetch of partition 0 from its start, on a new connection."""
    request = fetch_request([fetch_topic(topic, version, [fetch_partition(0)])])
    with broker.connect(client_id) as connection:
        answer: FetchResponse = connection.ask(request, version)
    expect_error(answer.error_code, ErrorCode.NONE, "Fetch")
    return answer


def _alter(broker: BrokerUnderTest, client_id: str, key: str, value: float | None) -> None:
    entity = AlterClientQuotasRequest.EntityData(entity_type=CLIENT_ID, entity_name=client_id)
    change = AlterClientQuotasRequest.OpData(key=key, value=float(value or 0), remove=value is None)
    entry = AlterClientQuotasRequest.EntryData(entity=[entity], ops=[change])
    with preparing(f"AlterClientQuotas {key}"):
        answer = only(broker.ask(AlterClientQuotasRequest(entries=[entry])).entries, "entity")
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"AlterClientQuotas {key}: {ErrorCode.describe(answer.error_code)}")

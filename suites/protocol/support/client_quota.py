"""A quota for one client id (KIP-546), for as long as a test asks about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.only import only
from harness.client.preparing import preparing
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterClientQuotasRequest

CLIENT_ID = "client-id"


@contextmanager
def client_quota(
    broker: BrokerUnderTest, client_id: str, key: str, bytes_per_s: int
) -> Iterator[None]:
    """Set for the block, removed after it. Raises PreparationFailed when refused.

    A broker may take some time until it keeps to it.
    """
    _alter(broker, client_id, key, bytes_per_s)
    try:
        yield
    finally:
        _alter(broker, client_id, key, None)


def _alter(broker: BrokerUnderTest, client_id: str, key: str, value: int | None) -> None:
    entity = AlterClientQuotasRequest.EntityData(entity_type=CLIENT_ID, entity_name=client_id)
    change = AlterClientQuotasRequest.OpData(key=key, value=float(value or 0), remove=value is None)
    entry = AlterClientQuotasRequest.EntryData(entity=[entity], ops=[change])
    with preparing(f"AlterClientQuotas {key}"):
        answer = only(broker.ask(AlterClientQuotasRequest(entries=[entry])).entries, "entity")
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"AlterClientQuotas {key}: {ErrorCode.describe(answer.error_code)}")

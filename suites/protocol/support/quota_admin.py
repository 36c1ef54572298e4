"""Requests that change and describe client quotas (KIP-546), with the answer for each entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.preparing import preparing
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

USER, CLIENT_ID, IP = "user", "client-id", "ip"
PRODUCER, CONSUMER = "producer_byte_rate", "consumer_byte_rate"
PERCENTAGE, CONNECTIONS = "request_percentage", "connection_creation_rate"
MUTATIONS = "controller_mutation_rate"
EXACT, DEFAULT, ANY = 0, 1, 2
QUOTA_WITHIN_MS = 10_000

Entity = frozenset[tuple[str, str | None]]
"""Pairs of type and name; the name None is the default entity of the type."""
Quotas = dict[Entity, dict[str, float]]
Filter = tuple[str, int, str | None]
"""Type, match type and name."""


class QuotaChange(NamedTuple):
    """An entity and its new values; None removes a quota."""

    entity: Sequence[tuple[str, str | None]]
    values: Sequence[tuple[str, float | None]]


def entity(
    user: str | None = "", client_id: str | None = "", ip: str | None = ""
) -> Sequence[tuple[str, str | None]]:
    """Return the parts of an entity; an argument left out is no part of it, None is the default."""
    parts = ((USER, user), (CLIENT_ID, client_id), (IP, ip))
    return [(kind, name) for kind, name in parts if name != ""]


def quota(of: Sequence[tuple[str, str | None]], values: Mapping[str, float | None]) -> QuotaChange:
    """Return the change of an entity that sets or removes these quotas."""
    return QuotaChange(of, list(values.items()))


def alter_quotas(
    broker: BrokerUnderTest,
    *changes: QuotaChange,
    version: int | None = None,
    validate_only: bool = False,
) -> list[tuple[Entity, int]]:
    """AlterClientQuotas; return each entity of the answer with its error."""
    made = AlterClientQuotasRequest
    request = made(
        entries=[
            made.EntryData(
                entity=[
                    made.EntityData(entity_type=kind, entity_name=name)
                    for kind, name in each.entity
                ],
                ops=[
                    made.OpData(key=key, value=value or 0.0, remove=value is None)
                    for key, value in each.values
                ],
            )
            for each in changes
        ],
        validate_only=validate_only,
    )
    return [
        (frozenset((e.entity_type, e.entity_name) for e in each.entity), each.error_code)
        for each in broker.ask(request, version).entries
    ]


def prepare_quotas(broker: BrokerUnderTest, *changes: QuotaChange) -> None:
    """Change quotas. Raises PreparationFailed when one is refused."""
    with preparing("AlterClientQuotas"):
        altered = alter_quotas(broker, *changes)
    for of, code in altered:
        if code != ErrorCode.NONE:
            told = f"AlterClientQuotas of {sorted(of)}: {ErrorCode.describe(code)}"
            raise PreparationFailed(told, code)


def describe_quotas(
    broker: BrokerUnderTest,
    filters: Sequence[Filter] = (),
    *,
    strict: bool = False,
    version: int | None = None,
) -> DescribeClientQuotasResponse:
    """DescribeClientQuotas with a filter for each (type, match type, name)."""
    made = DescribeClientQuotasRequest.ComponentData
    components = [
        made(entity_type=kind, match_type=match_type, match=name)
        for kind, match_type, name in filters
    ]
    request = DescribeClientQuotasRequest(components=components, strict=strict)
    return broker.ask(request, version)


def quotas_in(answer: DescribeClientQuotasResponse) -> Quotas:
    """Return the quotas of each described entity; an error, or a repeated entity, is a fault."""
    told = f"DescribeClientQuotas: {ErrorCode.describe(answer.error_code)}"
    assert answer.error_code == ErrorCode.NONE, told
    found: Quotas = {}
    assert answer.entries is not None, "DescribeClientQuotas: the entities are null"
    for each in answer.entries:
        name = frozenset((e.entity_type, e.entity_name) for e in each.entity)
        assert name not in found, f"{sorted(name, key=str)} is described twice"
        found[name] = {value.key: value.value for value in each.values}
    return found

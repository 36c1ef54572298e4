"""Client quotas of all kinds of entities, and the whole answer about them (KIP-546, KIP-612)."""

from __future__ import annotations

from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterClientQuotasRequest, DescribeClientQuotasRequest
from suites.protocol.support.whole_answers import WholeAnswers, whole_answer

Entity = tuple[tuple[str, str | None], ...]
"""Types and names; None is the default of a type."""

USER, CLIENT = "user", "client-id"
QUOTAS: Mapping[Entity, Mapping[str, float]] = {
    ((USER, "anna"),): {"producer_byte_rate": 1_001.0, "consumer_byte_rate": 2_002.0},
    ((USER, "anna"), (CLIENT, "one")): {"producer_byte_rate": 3_003.0},
    ((USER, "anna"), (CLIENT, None)): {"consumer_byte_rate": 4_004.0},
    ((USER, None),): {"request_percentage": 12.5},
    ((USER, None), (CLIENT, None)): {"controller_mutation_rate": 5.5},
    ((CLIENT, "one"),): {"producer_byte_rate": 6_006.0, "request_percentage": 77.25},
    ((USER, "o/n e=%41,\u00fc"), (CLIENT, "x:y/z")): {"producer_byte_rate": 3_030.0},
    ((CLIENT, "changed"),): {"consumer_byte_rate": 7_007.0},
    ((CLIENT, "removed"),): {"consumer_byte_rate": 8_008.0, "producer_byte_rate": 9_009.0},
    ((CLIENT, None),): {"consumer_byte_rate": 10_010.0},
}
REMOVED: Entity = ((CLIENT, "removed"),)
CHANGED: Entity = ((CLIENT, "changed"),)


def set_quotas(
    client: BrokerUnderTest, quotas: Mapping[Entity, Mapping[str, float | None]]
) -> None:
    """Set each value, or remove it if it is None; wait until the broker describes them so.

    Raises PreparationFailed if one is refused.
    """
    entity, op = AlterClientQuotasRequest.EntityData, AlterClientQuotasRequest.OpData
    entries = [
        AlterClientQuotasRequest.EntryData(
            entity=[entity(entity_type=kind, entity_name=name) for kind, name in of],
            ops=[
                op(key=key, value=value or 0.0, remove=value is None)
                for key, value in values.items()
            ],
        )
        for of, values in quotas.items()
    ]
    for answer in client.ask(AlterClientQuotasRequest(entries=entries)).entries:
        if answer.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"AlterClientQuotas: {ErrorCode.describe(answer.error_code)}")
    wanted = {
        (frozenset(of), key): value for of, each in quotas.items() for key, value in each.items()
    }

    def is_described() -> bool:
        described = _described(client)
        return all(described.get(place) == value for place, value in wanted.items())

    client.eventually(is_described, "the quotas are described")


def _described(
    client: BrokerUnderTest,
) -> dict[tuple[frozenset[tuple[str, str | None]], str], float]:
    answer = client.ask(DescribeClientQuotasRequest(components=[], strict=False))
    return {
        (
            frozenset((one.entity_type, one.entity_name) for one in each.entity),
            value.key,
        ): value.value
        for each in answer.entries or []
        for value in each.values
    }


def all_quotas(client: BrokerUnderTest) -> WholeAnswers:
    """Return the answer of DescribeClientQuotas with no filter."""
    version = client.version("DescribeClientQuotas")
    answer = client.ask(DescribeClientQuotasRequest(components=[], strict=False), version)
    return whole_answer("DescribeClientQuotas", answer, version)

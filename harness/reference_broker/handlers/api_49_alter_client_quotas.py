"""AlterClientQuotas: API key 49, versions 0 to 1.

Behaviour
- Each entity has its own result; one that is refused does not touch the others.
- For an entity type that is named twice only the last name counts.
- For an entity that is named twice only the first changes count, and it gets an error. With a
  ZooKeeper all changes count, also two of one quota, and values may be 0 or less.

Version notes
- v1   compact fields (KIP-482)

Not done
- controller_mutation_rate does not count topics of auto-creation.
- The only host name that is accepted for an ip is localhost.
- A Fetch of a client above request_percentage gets its records all the same.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterClientQuotasRequest, AlterClientQuotasResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.quotas.client_quotas import (
    Entity,
    QuotaRefused,
    check_entity,
    check_quota,
    stored_quota,
)
from harness.reference_broker.state.registrations.metadata_records import quota_records

API_KEY = 49
_FINITE_ONLY = (4, 4)  # class ClientQuotaControlManager; before, NaN passes every comparison
_Parts = tuple[tuple[str, str | None], ...]


def handle(request: AlterClientQuotasRequest, context: RequestContext) -> Answer:
    """Set and remove quotas."""
    problems: dict[_Parts, str | None] = {}
    has_zookeeper = context.state.like.keeps_topics_in_zookeeper
    for entry in request.entries:
        named = {part.entity_type: part.entity_name for part in entry.entity}
        parts = tuple(sorted(named.items()))
        if parts in problems and not has_zookeeper:
            problems[parts] = "The same entity was named before."
            continue
        try:
            entity = check_entity(list(parts))
            changes = (
                _changes_with_zookeeper(entity, entry.ops)
                if has_zookeeper
                else _changes(entity, entry.ops, context.state.like.since(*_FINITE_ONLY))
            )
        except QuotaRefused as refused:
            problems[parts] = str(refused)
            continue
        problems[parts] = None
        if not request.validate_only:
            context.state.change_metadata(quota_records(entity, changes), context.now())
    return Answer(AlterClientQuotasResponse(entries=[_result(*one) for one in problems.items()]))


def _changes(
    entity: Entity, ops: list[AlterClientQuotasRequest.OpData], finite: bool
) -> dict[str, float | None]:
    changes: dict[str, float | None] = {}
    for op in ops:
        if op.key in changes:
            raise QuotaRefused(f"The quota {op.key} is changed twice.")
        changes[op.key] = None if op.remove else op.value
        if not op.remove:
            check_quota(entity, op.key, op.value, finite=finite)
    return changes


def _changes_with_zookeeper(
    entity: Entity, ops: list[AlterClientQuotasRequest.OpData]
) -> dict[str, float | None]:
    """Return the last change of each quota. Anything may be removed."""
    return {op.key: None if op.remove else stored_quota(entity, op.key, op.value) for op in ops}


def _result(parts: _Parts, problem: str | None) -> AlterClientQuotasResponse.EntryData:
    return AlterClientQuotasResponse.EntryData(
        error_code=ErrorCode.NONE if problem is None else ErrorCode.INVALID_REQUEST,
        error_message=problem,
        entity=[
            AlterClientQuotasResponse.EntityData(entity_type=kind, entity_name=name)
            for kind, name in parts
        ],
    )

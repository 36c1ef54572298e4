"""DescribeClientQuotas: API key 48, versions 0 to 1.

Behaviour
- Returns all entities that have every type of the filter, with the requested name.
- With `strict` they have no further types; then a filter without components matches none.
- A contradictory filter gives an error and no list.

Version notes
- v1   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeClientQuotasRequest, DescribeClientQuotasResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.quotas.client_quotas import Entity
from harness.reference_broker.state.quotas.quota_filter import (
    FilterRefused,
    QuotaFilter,
    check_lookups,
    filter_of,
    parsed,
)

API_KEY = 48
_Response = DescribeClientQuotasResponse


def handle(request: DescribeClientQuotasRequest, context: RequestContext) -> Answer:
    """Return the quotas of the entities that pass the filter."""
    parts = [(one.entity_type, one.match_type, one.match) for one in request.components]
    try:
        if context.state.like.keeps_topics_in_zookeeper:
            parts = parsed(parts)
        wanted = filter_of(parts, is_strict=request.strict)
        if context.state.like.keeps_topics_in_zookeeper:
            check_lookups(wanted)
    except FilterRefused as refused:
        return Answer(_Response(error_code=refused.error, error_message=str(refused), entries=None))
    return Answer(_Response(error_code=ErrorCode.NONE, entries=_entries(wanted, context)))


def _entries(wanted: QuotaFilter, context: RequestContext) -> list[_Response.EntryData]:
    return [
        _Response.EntryData(
            entity=_parts(entity),
            values=[_Response.ValueData(key=key, value=value) for key, value in quotas.items()],
        )
        for entity, quotas in context.state.client_quotas.all()
        if wanted.passes(entity)
    ]


def _parts(entity: Entity) -> list[_Response.EntityData]:
    return [
        _Response.EntityData(entity_type=kind, entity_name=name)
        for kind, name in sorted(entity, key=lambda part: part[0])
    ]

"""ListConfigResources: API key 74, versions 0 to 1.

Behaviour
- Topics and brokers are always listed; groups and client metrics only if a config is set for them.
- Without types in the request: all types.

Version notes
- v0   client metrics only (ListClientMetricsResources, KIP-1000)
- v1   all types (KIP-1142)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListConfigResourcesRequest, ListConfigResourcesResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.configs.kinds import KINDS, ResourceType

API_KEY = 74
_Resource = ListConfigResourcesResponse.ConfigResource


def handle(request: ListConfigResourcesRequest, context: RequestContext) -> Answer:
    """List the resources of the requested types."""
    wanted = set(request.resource_types) or set(KINDS)
    if context.api_version == 0:
        wanted = {int(ResourceType.CLIENT_METRICS)}
    if not wanted <= set(KINDS):
        return Answer(ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
    return Answer(
        ListConfigResourcesResponse(
            config_resources=[
                _Resource(resource_name=name, resource_type=type_number)
                for type_number in sorted(wanted, reverse=True)
                for name in KINDS[type_number].names(context.state)
            ]
        )
    )

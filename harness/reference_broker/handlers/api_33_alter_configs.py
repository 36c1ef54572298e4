"""AlterConfigs: API key 33, versions 0 to 2.

Behaviour
- The named configs become the only ones set for a resource; the rest falls back to defaults.
- Errors are per resource: a resource is changed whole or not at all.
- A resource that is named twice is not changed. Kafka 4.4.0 never answers such a request.

Version notes
- The versions differ in layout only.

Not done
- Of a broker's configs, only those that its topics inherit take effect before a restart.
"""

from harness.codec.messages import AlterConfigsRequest, AlterConfigsResponse
from harness.reference_broker.handlers.config_requests import (
    ALTERED_WHOLE,
    answers,
    asked_in,
    change_all,
    unreadable,
)
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext

API_KEY = 33


def handle(request: AlterConfigsRequest, context: RequestContext) -> Outcome:
    """Replace the configs of each valid resource, or only check it with validate_only."""
    types = [resource.resource_type for resource in request.resources]
    closed = unreadable(types, context.state.like)
    if closed is not None:
        return closed
    results = change_all(
        asked_in(request), ALTERED_WHOLE, context, validate_only=request.validate_only
    )
    told = answers(results, AlterConfigsResponse.AlterConfigsResourceResponse)
    return Answer(AlterConfigsResponse(responses=told))

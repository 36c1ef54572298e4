"""IncrementalAlterConfigs: API key 44, versions 0 to 1.

Behaviour
- Only named configs change: to a value, to the default, or by items of a list.
- Errors are per resource: a resource is changed whole or not at all.
- A resource or a key that is named twice is refused.
- An unknown operation fails all changes that Kafka leaves to its controller.

Version notes
- v1   another encoding (KIP-482)

Not done
- Of a broker's configs, only those that its topics inherit take effect before a restart.
- There are no loggers, so no levels can be set.
"""

from harness.codec.messages import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from harness.reference_broker.handlers.config_requests import (
    ALTERED_BY_KEY,
    answers,
    asked_in,
    change_all,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 44


def handle(request: IncrementalAlterConfigsRequest, context: RequestContext) -> Answer:
    """Change the configs of each valid resource, or only check it with validate_only."""
    results = change_all(
        asked_in(request), ALTERED_BY_KEY, context, validate_only=request.validate_only
    )
    told = answers(results, IncrementalAlterConfigsResponse.AlterConfigsResourceResponse)
    return Answer(IncrementalAlterConfigsResponse(responses=told))
